/* wattlock_cipher.h: the four functions by which wattlock weighs a library of your own.
 *
 * Build a shared library that exports them, then
 *
 *     wattlock-probe selftest --library ./mine.so
 *
 * proves each cipher that it lists, by the same vectors and laws as all others, before any of them is timed.
 * Each length is in bytes and stands in a name that ends in _B. Nothing is called from two threads at once.
 *
 * Outside of what is timed, calls are compared one by one, and what lies around each buffer is looked at. A library has
 * no number that remembers a message or a key it was asked for before, errs now and then, writes outside of its room,
 * or starts a thread. What it prints goes to standard error.
 * examples/library/xtea.c is a whole library of this kind.
 */
#ifndef WATTLOCK_CIPHER_H
#define WATTLOCK_CIPHER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. It rises when a function changes its meaning. */
#define WATTLOCK_ABI 1

/* Which way a key is prepared first. A context does both ways; what it needs for the other may be made when it is first
 * asked for. */
#define WATTLOCK_FORWARD 0
#define WATTLOCK_BACKWARD 1

/* Operations. The last two are optional: without them long messages are not measured in segments. */
#define WATTLOCK_ENCRYPT 0      /* a whole message; ECB and CBC pad it by PKCS#7 */
#define WATTLOCK_DECRYPT 1      /* a whole message; ECB and CBC take the padding off */
#define WATTLOCK_SEAL 2         /* a whole message: its ciphertext, then the tag */
#define WATTLOCK_OPEN 3         /* ciphertext and tag to the message; nothing of it where the tag is wrong */
#define WATTLOCK_ENCRYPT_PART 4 /* whole blocks without padding (any length in CTR, CFB, OFB) */
#define WATTLOCK_DECRYPT_PART 5 /* the same back */

/* What wattlock_process returns where it fails. */
#define WATTLOCK_FAILED (-1)
#define WATTLOCK_NO_SUCH_OPERATION (-2)
#define WATTLOCK_FORGED (-3)
#define WATTLOCK_BAD_PADDING (-4)

/* Lists what the library has.
 *
 * abi: WATTLOCK_ABI of the caller.
 * Returns a text that lives as long as the library, or NULL where the library does not know this abi. Its first line is
 * the library's version; each further line is the id of a cipher as `wattlock-probe catalogue` writes it, and behind a
 * space, if you like, the path that the code takes on this processor:
 *
 *     1.4.0
 *     aes128-cbc aesni
 *     xtea-ecb
 */
const char *wattlock_ciphers(uint32_t abi);

/* Makes a context of a key: all that a program does with a new key, and all that a timed key setup counts.
 *
 * cipher: the place of the cipher in the list, from 0.
 * key: key_B bytes, as many as the cipher takes.
 * direction: WATTLOCK_FORWARD or WATTLOCK_BACKWARD.
 * reuse: NULL, or a context that this function gave for the same cipher and that nobody uses any more. Take its memory
 *     for the new one, so that no key setup allocates; or free it.
 * Returns the context, or NULL where it fails; then `reuse` is still the caller's.
 */
void *wattlock_key_setup(size_t cipher, const uint8_t *key, size_t key_B, int direction, void *reuse);

/* Carries out one operation. No allocation should be needed.
 *
 * operation: WATTLOCK_ENCRYPT and so on.
 * iv: the IV or nonce; it has the length of the cipher, which may be 0.
 * aad: associated data of WATTLOCK_SEAL and WATTLOCK_OPEN.
 * input: input_B bytes; whole blocks where the operation needs them.
 * output: has room for output_room_B bytes, just what the result may take; nothing beyond them may be written. It does
 *     not overlap the input.
 * Returns the bytes written, or one of the negative numbers above.
 */
int64_t wattlock_process(void *context, int operation, const uint8_t *iv, size_t iv_B, const uint8_t *aad, size_t aad_B,
                         const uint8_t *input, size_t input_B, uint8_t *output, size_t output_room_B);

/* Frees a context. */
void wattlock_free(void *context);

#ifdef __cplusplus
}
#endif

#endif
