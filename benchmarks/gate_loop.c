/* Two builds of a library in turn, as a bare program would time them: `gate_loop OLD NEW CIPHER BYTES PAIRS`.
 *
 * OLD and NEW export the functions of `wattlock_cipher.h`; CIPHER is a place in their lists. Batches of some 60 us stand
 * side by side, the one or the other first by chance. Prints the median of NEW's time over OLD's.
 * `cc -O2 -o gate_loop gate_loop.c -ldl -lm`.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_B = 16 * 1024, BATCH_NS = 60000 };

typedef const char *(*list_of)(uint32_t);
typedef void *(*key_setup)(size_t, const uint8_t *, size_t, int, void *);
typedef int64_t (*process)(void *, int, const uint8_t *, size_t, const uint8_t *, size_t, const uint8_t *, size_t, uint8_t *, size_t);

static uint8_t key[16], iv[8], input[MOST_B], output[MOST_B + 16];
static process calls[2];
static void *contexts[2];

static double now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

static double batch_ns(int side, size_t size, long count) {
    double start = now_ns();
    for (long call = 0; call < count; call++) calls[side](contexts[side], 0, iv, sizeof iv, NULL, 0, input, size, output, sizeof output);
    return now_ns() - start;
}

static int by_value(const void *a, const void *b) {
    double gap = *(const double *)a - *(const double *)b;
    return (gap > 0) - (gap < 0);
}

int main(int count, char **words) {
    if (count != 6) return 2;
    size_t size = (size_t)atol(words[4]);
    long pairs = atol(words[5]);
    for (int side = 0; side < 2; side++) {
        void *library = dlopen(words[1 + side], RTLD_NOW | RTLD_LOCAL);
        if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
        ((list_of)dlsym(library, "wattlock_ciphers"))(1);
        calls[side] = (process)dlsym(library, "wattlock_process");
        contexts[side] = ((key_setup)dlsym(library, "wattlock_key_setup"))((size_t)atol(words[3]), key, sizeof key, 0, NULL);
        if (!contexts[side] || size > MOST_B) return 1;
    }
    long in_batch = 1;
    while (batch_ns(0, size, in_batch) < BATCH_NS) in_batch *= 2;
    srand((unsigned)now_ns());
    double *logs = malloc((size_t)pairs * sizeof *logs);
    for (long pair = 0; pair < pairs; pair++) {
        double ns[2];
        int first = rand() / 3 % 2;
        ns[first] = batch_ns(first, size, in_batch);
        ns[!first] = batch_ns(!first, size, in_batch);
        logs[pair] = log(ns[1] / ns[0]);
    }
    qsort(logs, (size_t)pairs, sizeof *logs, by_value);
    printf("%.7f\n", exp(logs[pairs / 2]));
}
