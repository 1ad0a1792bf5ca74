/* XTEA (Needham & Wheeler, "Tea extensions", 1997) in counter mode, words big-endian, for a microcontroller's core.
 *
 *     wattlock run examples/board/xtea.toml --on qemu:cortex-m4 --library mine=examples/board
 */
#include "wattlock_board.h"

enum { BLOCK_B = 8, CYCLES = 32 };

struct context {
    uint32_t round_keys[2 * CYCLES];
};

static uint32_t read_word(const uint8_t *from) {
    return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
}

static void write_word(uint8_t *to, uint32_t word) {
    for (int byte = 0; byte < 4; byte++) to[byte] = (uint8_t)(word >> (24 - 8 * byte));
}

static uint32_t mix(uint32_t word) { return ((word << 4) ^ (word >> 5)) + word; }

static void encrypt_block(const struct context *context, const uint8_t *from, uint8_t *to) {
    uint32_t left = read_word(from), right = read_word(from + 4);
    for (int round = 0; round < 2 * CYCLES; round += 2) {
        left += mix(right) ^ context->round_keys[round];
        right += mix(left) ^ context->round_keys[round + 1];
    }
    write_word(to, left);
    write_word(to + 4, right);
}

uint32_t wattlock_context_B(void) { return sizeof(struct context); }

int32_t wattlock_key_setup(void *opaque, const uint8_t *key, int32_t direction) {
    struct context *context = opaque;
    uint32_t sum = 0;
    (void)direction; /* one schedule does both ways */
    for (int round = 0; round < 2 * CYCLES; round += 2) {
        context->round_keys[round] = sum + read_word(key + 4 * (sum & 3));
        sum += 0x9e3779b9;
        context->round_keys[round + 1] = sum + read_word(key + 4 * (sum >> 11 & 3));
    }
    return 0;
}

/* The IV is the first counter block, counted big-endian over the whole block. */
int32_t wattlock_encrypt(void *context, const uint8_t *iv, const uint8_t *input, uint32_t input_B, uint8_t *output,
                         const uint8_t *aad, uint32_t aad_B) {
    uint8_t counter[BLOCK_B], stream[BLOCK_B];
    (void)aad, (void)aad_B; /* an AEAD has them */
    memcpy(counter, iv, BLOCK_B);
    for (uint32_t at = 0; at < input_B; at += BLOCK_B) {
        encrypt_block(context, counter, stream);
        for (uint32_t byte = 0; byte < BLOCK_B && at + byte < input_B; byte++)
            output[at + byte] = input[at + byte] ^ stream[byte];
        for (int byte = BLOCK_B - 1; byte >= 0 && ++counter[byte] == 0; byte--) {}
    }
    return (int32_t)input_B;
}

int32_t wattlock_decrypt(void *context, const uint8_t *iv, const uint8_t *input, uint32_t input_B, uint8_t *output,
                         const uint8_t *aad, uint32_t aad_B) {
    return wattlock_encrypt(context, iv, input, input_B, output, aad, aad_B);
}
