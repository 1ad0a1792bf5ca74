/* wattlock_board.h: the four functions by which code of your own is counted on a microcontroller's core.
 *
 * Write them for one cipher, name their sources in a file adapter.toml beside them, then
 *
 *     wattlock run STUDY --on qemu:cortex-m4 --library mine=./my-folder
 *
 * proves them inside the image by the same vectors and laws as the catalogue's own code, and counts them beside it.
 * examples/board/ is a whole folder of this kind; docs/guide/microcontrollers.md, "My own implementation", explains it.
 *
 * The sources are compiled once a cipher, with two definitions by which they know it: WATTLOCK_CIPHER_aes128_ctr (the
 * cipher's id, its hyphens as underscores) and WATTLOCK_KEY_B. Each length is in bytes. There is no heap and no file:
 * what a key needs lies in the context.
 */
#ifndef WATTLOCK_BOARD_H
#define WATTLOCK_BOARD_H

#include <stddef.h>
#include <stdint.h>

/* Which way a key is prepared first. A context does both ways. */
#define WATTLOCK_FORWARD 0
#define WATTLOCK_BACKWARD 1

/* What a function returns where it fails. */
#define WATTLOCK_FAILED (-1)
#define WATTLOCK_FORGED (-3)
#define WATTLOCK_BAD_PADDING (-4)

/* How many bytes a key takes between two messages. The context is aligned to 16 bytes. */
uint32_t wattlock_context_B(void);

/* All that a program does with a new key.
 *
 * key: WATTLOCK_KEY_B bytes.
 * direction: WATTLOCK_FORWARD or WATTLOCK_BACKWARD.
 * Returns 0, or WATTLOCK_FAILED.
 */
int32_t wattlock_key_setup(void *context, const uint8_t *key, int32_t direction);

/* A whole message from plaintext to ciphertext: ECB and CBC pad it by PKCS#7, an AEAD writes its tag behind it.
 *
 * iv: the IV or nonce, as long as the cipher's; of CTR the first counter block, counted big-endian over the whole block.
 * output: has room for the result; it does not overlap the input. Neither need begin at a multiple of 4.
 * aad: associated data of an AEAD, else NULL with 0 bytes.
 * Returns the bytes written, or a negative number.
 */
int32_t wattlock_encrypt(void *context, const uint8_t *iv, const uint8_t *input, uint32_t input_B, uint8_t *output,
                         const uint8_t *aad, uint32_t aad_B);

/* The same back. Where the tag is wrong (WATTLOCK_FORGED), nothing of the plaintext may be left in the output. */
int32_t wattlock_decrypt(void *context, const uint8_t *iv, const uint8_t *input, uint32_t input_B, uint8_t *output,
                         const uint8_t *aad, uint32_t aad_B);

/* The image has these of a C library; short ones become a few instructions, which -ffreestanding alone would forbid. */
void *memcpy(void *to, const void *from, size_t length_B);
void *memmove(void *to, const void *from, size_t length_B);
void *memset(void *to, int byte, size_t length_B);
int memcmp(const void *a, const void *b, size_t length_B);
#define memcpy(to, from, length_B) __builtin_memcpy(to, from, length_B)
#define memmove(to, from, length_B) __builtin_memmove(to, from, length_B)
#define memset(to, byte, length_B) __builtin_memset(to, byte, length_B)
#define memcmp(a, b, length_B) __builtin_memcmp(a, b, length_B)

#endif
