/* wattlock_ctr.h: counter mode around code that encrypts whole blocks of 16 bytes, for adapters of block ciphers.
 *
 * Define WATTLOCK_BLOCKS, how many blocks the code takes at once, and the function below, before you include it.
 */
#ifndef WATTLOCK_CTR_H
#define WATTLOCK_CTR_H

#include "wattlock_board.h"

/* Encrypts WATTLOCK_BLOCKS blocks; input and output are aligned to 4 bytes. */
static void wattlock_blocks(const void *context, const uint8_t *input, uint8_t *output);

enum { WATTLOCK_AT_ONCE_B = 16 * WATTLOCK_BLOCKS };

/* Message xor key stream: by words where both begin at a multiple of 4, as ARMv6-M needs. */
static inline void wattlock_xor(uint8_t *output, const uint8_t *input, const uint8_t *stream, uint32_t length_B) {
    uint32_t at = 0;
    if ((((uintptr_t)input | (uintptr_t)output) & 3) == 0)
        for (; at + 4 <= length_B; at += 4) {
            uint32_t word, key;
            memcpy(&word, __builtin_assume_aligned(input + at, 4), 4);
            memcpy(&key, __builtin_assume_aligned(stream + at, 4), 4);
            word ^= key;
            memcpy(__builtin_assume_aligned(output + at, 4), &word, 4);
        }
    for (; at < length_B; at++) output[at] = input[at] ^ stream[at];
}

static inline int32_t wattlock_ctr(const void *context, const uint8_t *iv, const uint8_t *input, uint32_t input_B,
                                   uint8_t *output) {
    uint8_t counter[16] __attribute__((aligned(4))), blocks[WATTLOCK_AT_ONCE_B] __attribute__((aligned(4)));
    uint8_t stream[WATTLOCK_AT_ONCE_B] __attribute__((aligned(4)));
    memcpy(counter, iv, 16);
    for (uint32_t at = 0; at < input_B; at += WATTLOCK_AT_ONCE_B) {
        for (int block = 0; block < WATTLOCK_BLOCKS; block++) {
            memcpy(blocks + 16 * block, counter, 16);
            for (int byte = 15; byte >= 0 && ++counter[byte] == 0; byte--) {}
        }
        wattlock_blocks(context, blocks, stream);
        uint32_t left_B = input_B - at;
        wattlock_xor(output + at, input + at, stream, left_B < WATTLOCK_AT_ONCE_B ? left_B : WATTLOCK_AT_ONCE_B);
    }
    return (int32_t)input_B;
}

/* The two directions of counter mode are one. */
int32_t wattlock_encrypt(void *context, const uint8_t *iv, const uint8_t *input, uint32_t input_B, uint8_t *output,
                         const uint8_t *aad, uint32_t aad_B) {
    (void)aad, (void)aad_B;
    return wattlock_ctr(context, iv, input, input_B, output);
}

int32_t wattlock_decrypt(void *context, const uint8_t *iv, const uint8_t *input, uint32_t input_B, uint8_t *output,
                         const uint8_t *aad, uint32_t aad_B) {
    return wattlock_encrypt(context, iv, input, input_B, output, aad, aad_B);
}

#endif
