/* A library that wattlock can weigh: XTEA (Needham & Wheeler, "Tea extensions", 1997) in ECB and CTR, words big-endian.
 *
 *     cc -O2 -shared -fPIC -I crates/providers/include -o xtea.so examples/library/xtea.c
 *     wattlock-probe selftest --library ./xtea.so
 */
#include "wattlock_cipher.h"

#include <stdlib.h>
#include <string.h>

enum { ECB, CTR, CIPHERS };
enum { BLOCK_B = 8, KEY_B = 16, CYCLES = 32 };

struct context {
    int mode;
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

static void decrypt_block(const struct context *context, const uint8_t *from, uint8_t *to) {
    uint32_t left = read_word(from), right = read_word(from + 4);
    for (int round = 2 * CYCLES - 2; round >= 0; round -= 2) {
        right -= mix(left) ^ context->round_keys[round + 1];
        left -= mix(right) ^ context->round_keys[round];
    }
    write_word(to, left);
    write_word(to + 4, right);
}

/* The IV is the first counter block, counted big-endian over the whole block. */
static void ctr(const struct context *context, const uint8_t *iv, const uint8_t *input, size_t input_B, uint8_t *output) {
    uint8_t counter[BLOCK_B], stream[BLOCK_B];
    memcpy(counter, iv, BLOCK_B);
    for (size_t at = 0; at < input_B; at += BLOCK_B) {
        encrypt_block(context, counter, stream);
        for (size_t byte = 0; byte < BLOCK_B && at + byte < input_B; byte++)
            output[at + byte] = input[at + byte] ^ stream[byte];
        for (int byte = BLOCK_B - 1; byte >= 0 && ++counter[byte] == 0; byte--) {}
    }
}

const char *wattlock_ciphers(uint32_t abi) { return abi == WATTLOCK_ABI ? "1.0.0\nxtea-ecb portable\nxtea-ctr portable\n" : NULL; }

void *wattlock_key_setup(size_t cipher, const uint8_t *key, size_t key_B, int direction, void *reuse) {
    (void)direction; /* one schedule does both ways */
    if (cipher >= CIPHERS || key_B != KEY_B) return NULL;
    struct context *context = reuse != NULL ? reuse : malloc(sizeof *context);
    if (context == NULL) return NULL;
    context->mode = (int)cipher;
    uint32_t sum = 0;
    for (int round = 0; round < 2 * CYCLES; round += 2) {
        context->round_keys[round] = sum + read_word(key + 4 * (sum & 3));
        sum += 0x9e3779b9;
        context->round_keys[round + 1] = sum + read_word(key + 4 * (sum >> 11 & 3));
    }
    return context;
}

int64_t wattlock_process(void *opaque, int operation, const uint8_t *iv, size_t iv_B, const uint8_t *aad, size_t aad_B,
                         const uint8_t *input, size_t input_B, uint8_t *output, size_t output_room_B) {
    const struct context *context = opaque;
    (void)aad, (void)aad_B, (void)output_room_B;
    if (operation == WATTLOCK_SEAL || operation == WATTLOCK_OPEN) return WATTLOCK_NO_SUCH_OPERATION;
    if (context->mode == CTR) {
        if (iv_B != BLOCK_B) return WATTLOCK_FAILED;
        ctr(context, iv, input, input_B, output);
        return (int64_t)input_B;
    }
    size_t whole_B = input_B / BLOCK_B * BLOCK_B;
    for (size_t at = 0; at < whole_B; at += BLOCK_B) {
        if (operation == WATTLOCK_ENCRYPT || operation == WATTLOCK_ENCRYPT_PART)
            encrypt_block(context, input + at, output + at);
        else
            decrypt_block(context, input + at, output + at);
    }
    if (operation == WATTLOCK_ENCRYPT) {
        uint8_t last[BLOCK_B];
        memset(last, (int)(BLOCK_B - (input_B - whole_B)), BLOCK_B);
        memcpy(last, input + whole_B, input_B - whole_B);
        encrypt_block(context, last, output + whole_B);
        return (int64_t)(whole_B + BLOCK_B);
    }
    if (operation == WATTLOCK_DECRYPT) {
        uint8_t padding_B = whole_B > 0 ? output[whole_B - 1] : 0;
        if (padding_B < 1 || padding_B > BLOCK_B) return WATTLOCK_BAD_PADDING;
        for (size_t at = whole_B - padding_B; at < whole_B; at++)
            if (output[at] != padding_B) return WATTLOCK_BAD_PADDING;
        return (int64_t)(whole_B - padding_B);
    }
    return (int64_t)whole_B;
}

void wattlock_free(void *context) { free(context); }
