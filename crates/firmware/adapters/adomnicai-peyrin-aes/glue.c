/* Fixsliced AES behind the four functions: the fully fixsliced routine of two blocks, in counter mode. */
#define WATTLOCK_BLOCKS 2
#include "wattlock_ctr.h"

#if WATTLOCK_KEY_B == 16
#define SET_KEY aes128_keyschedule_ffs
#define ENCRYPT aes128_encrypt_ffs
enum { ROUND_KEYS_B = 352 };
#else
#define SET_KEY aes256_keyschedule_ffs
#define ENCRYPT aes256_encrypt_ffs
enum { ROUND_KEYS_B = 480 };
#endif

void SET_KEY(uint32_t *round_keys, const uint8_t *first, const uint8_t *second);
void ENCRYPT(uint8_t *first_to, uint8_t *second_to, const uint8_t *first, const uint8_t *second, const uint32_t *round_keys);

uint32_t wattlock_context_B(void) { return ROUND_KEYS_B; }

int32_t wattlock_key_setup(void *context, const uint8_t *key, int32_t direction) {
    (void)direction; /* counter mode never decrypts a block */
    uint8_t aligned[WATTLOCK_KEY_B] __attribute__((aligned(4)));
    if ((uintptr_t)key & 3) key = memcpy(aligned, key, WATTLOCK_KEY_B);
    SET_KEY(context, key, key);
    return 0;
}

static void wattlock_blocks(const void *context, const uint8_t *input, uint8_t *output) {
    ENCRYPT(output, output + 16, input, input + 16, context);
}
