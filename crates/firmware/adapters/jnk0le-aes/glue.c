/* AES of cortexm-AES behind the four functions: the routine that its author names for each core, in counter mode. */
#define WATTLOCK_BLOCKS 1
#include "wattlock_ctr.h"

#if WATTLOCK_KEY_B == 16
#define ROUNDS 10
#define SCHEDULE(prefix) prefix##_AES128_keyschedule_enc
#else
#define ROUNDS 14
#define SCHEDULE(prefix) prefix##_AES256_keyschedule_enc
#endif

#if defined(CM0)
#define SET_KEY SCHEDULE(CM0_d4T)
#define ENCRYPT CM0_d4T_FAST_AES_encrypt
#elif defined(CM33)
#define SET_KEY SCHEDULE(CM33_1T)
#define ENCRYPT CM33_1T_AES_encrypt
#else
#define SET_KEY SCHEDULE(CM3_1T)
#define ENCRYPT CM3_1T_AES_encrypt
#endif

void SET_KEY(uint8_t *round_keys, const uint8_t *key);
void ENCRYPT(const uint8_t *round_keys, const uint8_t *input, uint8_t *output, size_t rounds);

uint32_t wattlock_context_B(void) { return 16 * (ROUNDS + 1); }

int32_t wattlock_key_setup(void *context, const uint8_t *key, int32_t direction) {
    (void)direction; /* counter mode never decrypts a block */
    uint8_t aligned[WATTLOCK_KEY_B] __attribute__((aligned(4)));
    if ((uintptr_t)key & 3) key = memcpy(aligned, key, WATTLOCK_KEY_B);
    SET_KEY(context, key);
    return 0;
}

static void wattlock_blocks(const void *context, const uint8_t *input, uint8_t *output) {
    ENCRYPT(context, input, output, ROUNDS);
}
