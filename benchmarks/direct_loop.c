/* A bare loop over one library, as a program would write it: `direct_loop LIBRARY FILE BYTES`.
 *
 * Each call encrypts one message of BYTES bytes under a key that is ready and a fresh IV: AES-128-CBC with PKCS#7
 * padding, or ChaCha20 of RFC 8439 where LIBRARY is libsodium. Prints nanoseconds a call: the median batch.
 * `cc -O2 -o direct_loop direct_loop.c -ldl`. Nothing is linked but the loader: FILE is the library.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BLOCK = 16, MOST = 16 * 1024, BATCHES = 201, BATCH_NS = 200000 };

static unsigned char key[32], iv[16], plain[MOST], padded[MOST + BLOCK], out[MOST + 2 * BLOCK];
static void *library;
static size_t size;

static void *function(const char *name) {
    void *found = dlsym(library, name);
    if (!found) {
        fprintf(stderr, "error: no function %s\n", name);
        exit(1);
    }
    return found;
}

static void must(int right, const char *what) {
    if (!right) {
        fprintf(stderr, "error: %s failed\n", what);
        exit(1);
    }
}

/* PKCS#7 by hand, for libraries that take whole blocks: the last block alone is copied. */
static size_t pad(void) {
    size_t whole = size / BLOCK * BLOCK;
    memset(padded, (int)(BLOCK - (size - whole)), BLOCK);
    memcpy(padded, plain + whole, size - whole);
    return whole;
}

/* OpenSSL 3 and wolfSSL, whose interface is the same under other names. */
static void *evp;
static int (*evp_init)(void *, const void *, void *, const void *, const void *, int);
static int (*evp_update)(void *, void *, int *, const void *, int);
static int (*evp_final)(void *, void *, int *);

static void openssl_ready(void) {
    void *(*create)(void) = function("EVP_CIPHER_CTX_new");
    void *(*fetch)(void *, const char *, const char *) = function("EVP_CIPHER_fetch");
    evp_init = function("EVP_CipherInit_ex");
    evp_update = function("EVP_CipherUpdate");
    evp_final = function("EVP_CipherFinal_ex");
    evp = create();
    must(evp_init(evp, fetch(NULL, "AES-128-CBC", NULL), NULL, key, iv, 1), "EVP_CipherInit_ex");
}

static void wolfssl_ready(void) {
    void *(*create)(void) = function("wolfSSL_EVP_CIPHER_CTX_new");
    const void *(*cipher)(void) = function("wolfSSL_EVP_aes_128_cbc");
    evp_init = function("wolfSSL_EVP_CipherInit_ex");
    evp_update = function("wolfSSL_EVP_CipherUpdate");
    evp_final = function("wolfSSL_EVP_CipherFinal");
    evp = create();
    must(evp_init(evp, cipher(), NULL, key, iv, 1), "wolfSSL_EVP_CipherInit_ex");
}

static void evp_call(void) {
    int written = 0, rest = 0;
    must(evp_init(evp, NULL, NULL, NULL, iv, -1) == 1, "init");
    must(evp_update(evp, out, &written, plain, (int)size) == 1, "update");
    must(evp_final(evp, out + written, &rest) == 1, "final");
}

/* libgcrypt */
static void *gcry;
static unsigned (*gcry_setiv)(void *, const void *, size_t);
static unsigned (*gcry_encrypt)(void *, void *, size_t, const void *, size_t);

static void gcrypt_ready(void) {
    const char *(*version)(const char *) = function("gcry_check_version");
    unsigned (*control)(int, ...) = function("gcry_control");
    unsigned (*open)(void **, int, int, unsigned) = function("gcry_cipher_open");
    unsigned (*setkey)(void *, const void *, size_t) = function("gcry_cipher_setkey");
    gcry_setiv = function("gcry_cipher_setiv");
    gcry_encrypt = function("gcry_cipher_encrypt");
    version(NULL);
    control(37 /* GCRYCTL_DISABLE_SECMEM */, 0);
    control(38 /* GCRYCTL_INITIALIZATION_FINISHED */, 0);
    must(!open(&gcry, 7 /* GCRY_CIPHER_AES */, 3 /* GCRY_CIPHER_MODE_CBC */, 0), "gcry_cipher_open");
    must(!setkey(gcry, key, 16), "gcry_cipher_setkey");
}

static void gcrypt_call(void) {
    size_t whole = pad();
    must(!gcry_setiv(gcry, iv, 16), "gcry_cipher_setiv");
    if (whole) must(!gcry_encrypt(gcry, out, whole, plain, whole), "gcry_cipher_encrypt");
    must(!gcry_encrypt(gcry, out + whole, BLOCK, padded, BLOCK), "gcry_cipher_encrypt");
}

/* nettle */
static unsigned char aes_context[4096] __attribute__((aligned(16)));
static void (*nettle_cbc)(const void *, void *, size_t, void *, const void *);

static void nettle_ready(void) {
    void (*set)(void *, const void *) = function("nettle_aes128_set_encrypt_key");
    nettle_cbc = function("nettle_cbc_aes128_encrypt");
    set(aes_context, key);
}

static void nettle_call(void) {
    unsigned char chain[BLOCK];
    size_t whole = pad();
    memcpy(chain, iv, BLOCK);
    if (whole) nettle_cbc(aes_context, chain, whole, out, plain);
    nettle_cbc(aes_context, chain, BLOCK, out + whole, padded);
}

/* libtomcrypt: the context's size is asked of the library. */
static void *tom;
static int (*tom_setiv)(const void *, unsigned long, void *);
static int (*tom_encrypt)(const void *, void *, unsigned long, void *);

static void tomcrypt_ready(void) {
    int (*add)(const void *) = function("register_cipher");
    int (*find)(const char *) = function("find_cipher");
    int (*get)(const char *, unsigned *) = function("crypt_get_size");
    int (*start)(int, const void *, const void *, int, int, void *) = function("cbc_start");
    unsigned context_B = 0;
    tom_setiv = function("cbc_setiv");
    tom_encrypt = function("cbc_encrypt");
    add(function("aes_desc"));
    must(!get("symmetric_CBC", &context_B) && context_B, "crypt_get_size");
    tom = calloc(1, context_B);
    must(!start(find("aes"), iv, key, 16, 0, tom), "cbc_start");
}

static void tomcrypt_call(void) {
    size_t whole = pad();
    must(!tom_setiv(iv, BLOCK, tom), "cbc_setiv");
    if (whole) must(!tom_encrypt(plain, out, whole, tom), "cbc_encrypt");
    must(!tom_encrypt(padded, out + whole, BLOCK, tom), "cbc_encrypt");
}

/* libmcrypt works in place: what is kept is copied. */
static void *mcrypt;
static int (*mcrypt_state)(void *, const void *, int);
static int (*mcrypt_run)(void *, void *, int);

static void mcrypt_ready(void) {
    void *(*open)(const char *, const char *, const char *, const char *) = function("mcrypt_module_open");
    int (*init)(void *, const void *, int, const void *) = function("mcrypt_generic_init");
    mcrypt_state = function("mcrypt_enc_set_state");
    mcrypt_run = function("mcrypt_generic");
    mcrypt = open("rijndael-128", NULL, "cbc", NULL);
    must(mcrypt && init(mcrypt, key, 16, iv) >= 0, "mcrypt_generic_init");
}

static void mcrypt_call(void) {
    size_t whole = pad();
    must(!mcrypt_state(mcrypt, iv, BLOCK), "mcrypt_enc_set_state");
    memcpy(out, plain, whole);
    memcpy(out + whole, padded, BLOCK);
    if (whole) must(!mcrypt_run(mcrypt, out, (int)whole), "mcrypt_generic");
    must(!mcrypt_run(mcrypt, out + whole, BLOCK), "mcrypt_generic");
}

/* Botan, by its interface for C */
static void *botan;
static int (*botan_start)(void *, const void *, size_t);
static int (*botan_update)(void *, unsigned, void *, size_t, size_t *, const void *, size_t, size_t *);

static void botan_ready(void) {
    int (*init)(void **, const char *, unsigned) = function("botan_cipher_init");
    int (*set)(void *, const void *, size_t) = function("botan_cipher_set_key");
    botan_start = function("botan_cipher_start");
    botan_update = function("botan_cipher_update");
    must(!init(&botan, "AES-128/CBC/PKCS7", 0), "botan_cipher_init");
    must(!set(botan, key, 16), "botan_cipher_set_key");
}

static void botan_call(void) {
    size_t written = 0, consumed = 0;
    must(!botan_start(botan, iv, BLOCK), "botan_cipher_start");
    must(!botan_update(botan, 1, out, sizeof out, &written, plain, size, &consumed), "botan_cipher_update");
}

/* libsodium */
static int (*sodium_xor)(void *, const void *, unsigned long long, const void *, uint32_t, const void *);

static void sodium_ready(void) {
    int (*init)(void) = function("sodium_init");
    must(init() >= 0, "sodium_init");
    sodium_xor = function("crypto_stream_chacha20_ietf_xor_ic");
}

static void sodium_call(void) {
    must(!sodium_xor(out, plain, size, iv, 0, key), "crypto_stream_chacha20_ietf_xor_ic");
}

static const struct {
    const char *name;
    void (*ready)(void), (*call)(void);
} LIBRARIES[] = {
    {"openssl", openssl_ready, evp_call},          {"wolfssl", wolfssl_ready, evp_call},
    {"libgcrypt", gcrypt_ready, gcrypt_call},      {"nettle", nettle_ready, nettle_call},
    {"libtomcrypt", tomcrypt_ready, tomcrypt_call}, {"libmcrypt", mcrypt_ready, mcrypt_call},
    {"botan", botan_ready, botan_call},            {"libsodium", sodium_ready, sodium_call},
};

static double nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int by_value(const void *one, const void *other) {
    double difference = *(const double *)one - *(const double *)other;
    return (difference > 0) - (difference < 0);
}

static double batch(void (*call)(void), long calls) {
    double start = nanoseconds();
    for (long done = 0; done < calls; done++) {
        call();
        __asm__ volatile("" : : "r"(out) : "memory");
    }
    return nanoseconds() - start;
}

int main(int count, char **words) {
    static double taken[BATCHES];
    if (count != 4 || (size = strtoul(words[3], NULL, 10)) > MOST) {
        fprintf(stderr, "usage: direct_loop LIBRARY FILE BYTES\n");
        return 2;
    }
    library = dlopen(words[2], RTLD_NOW);
    if (!library) {
        fprintf(stderr, "error: %s\n", dlerror());
        return 1;
    }
    for (size_t at = 0; at < sizeof LIBRARIES / sizeof *LIBRARIES; at++) {
        if (strcmp(LIBRARIES[at].name, words[1])) continue;
        LIBRARIES[at].ready();
        long calls = 1;
        while (batch(LIBRARIES[at].call, calls) < BATCH_NS) calls *= 2;
        for (int number = 0; number < BATCHES; number++) taken[number] = batch(LIBRARIES[at].call, calls) / (double)calls;
        qsort(taken, BATCHES, sizeof *taken, by_value);
        printf("%.3f\n", taken[BATCHES / 2]);
        return 0;
    }
    fprintf(stderr, "error: no library %s\n", words[1]);
    return 2;
}
