/* A bare loop over one library, as a program would write it: `direct_loop LIBRARY FILE CIPHER BYTES`.
 *
 * Each call encrypts one message of BYTES bytes under a key that is ready and a fresh IV: aes128-cbc and des-cbc with
 * PKCS#7 padding, aes128-ctr, chacha20 of RFC 8439, or rc4-128, which has no IV and goes on. Prints nanoseconds a call:
 * the median batch. `cc -O2 -o direct_loop direct_loop.c -ldl`. Nothing is linked but the loader: FILE is the library.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BLOCK = 16, MOST = 16 * 1024, BATCHES = 201, BATCH_NS = 200000 };
enum cipher { AES_CBC, AES_CTR, DES_CBC, RC4, CHACHA20, CIPHERS };

static const char *const CIPHER_NAMES[CIPHERS] = {"aes128-cbc", "aes128-ctr", "des-cbc", "rc4-128", "chacha20"};
static unsigned char key[32], iv[17], plain[MOST], padded[BLOCK], out[MOST + 2 * BLOCK];
static void *library;
static enum cipher cipher;
static size_t size, block = BLOCK, iv_B = BLOCK, key_B = 16;

static int pads(void) {
    return cipher == AES_CBC || cipher == DES_CBC;
}

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

/* PKCS#7 by hand, for libraries that take whole blocks: the last block alone is copied. Gives the whole blocks' bytes. */
static inline size_t pad_to(size_t of) {
    size_t whole = size / of * of;
    memset(padded, (int)(of - (size - whole)), of);
    memcpy(padded, plain + whole, size - whole);
    return whole;
}

static inline size_t pad(void) {
    return block == 8 ? pad_to(8) : pad_to(16); /* a length that the compiler knows */
}

/* OpenSSL 3 and wolfSSL, whose interface is the same under other names. */
static void *evp;
static int (*evp_init)(void *, const void *, void *, const void *, const void *, int);
static int (*evp_update)(void *, void *, int *, const void *, int);
static int (*evp_final)(void *, void *, int *);
static int evp_ends; /* as OpenSSL's manual has it for any cipher; RC4 goes on */

static void openssl_ready(void) {
    static const char *const names[CIPHERS] = {"AES-128-CBC", "AES-128-CTR", "DES-CBC", "RC4", "ChaCha20"};
    void *(*create)(void) = function("EVP_CIPHER_CTX_new");
    void *(*fetch)(void *, const char *, const char *) = function("EVP_CIPHER_fetch");
    void *(*provider)(void *, const char *) = function("OSSL_PROVIDER_load");
    evp_init = function("EVP_CipherInit_ex");
    evp_update = function("EVP_CipherUpdate");
    evp_final = function("EVP_CipherFinal_ex");
    must(provider(NULL, "legacy") && provider(NULL, "default"), "OSSL_PROVIDER_load");
    evp_ends = cipher != RC4;
    evp = create();
    must(evp_init(evp, fetch(NULL, names[cipher], NULL), NULL, key, iv, 1), "EVP_CipherInit_ex");
}

static void wolfssl_ready(void) {
    static const char *const names[CIPHERS] = {"wolfSSL_EVP_aes_128_cbc", "wolfSSL_EVP_aes_128_ctr",
                                               "wolfSSL_EVP_des_cbc", "wolfSSL_EVP_rc4", "wolfSSL_EVP_chacha20"};
    void *(*create)(void) = function("wolfSSL_EVP_CIPHER_CTX_new");
    const void *(*get)(void) = function(names[cipher]);
    evp_init = function("wolfSSL_EVP_CipherInit_ex");
    evp_update = function("wolfSSL_EVP_CipherUpdate");
    evp_final = function("wolfSSL_EVP_CipherFinal");
    evp_ends = pads();
    evp = create();
    must(evp_init(evp, get(), NULL, key, iv, 1), "wolfSSL_EVP_CipherInit_ex");
}

static void evp_call(void) {
    int written = 0, rest = 0;
    if (cipher != RC4) must(evp_init(evp, NULL, NULL, NULL, iv, -1) == 1, "init");
    must(evp_update(evp, out, &written, plain, (int)size) == 1, "update");
    if (evp_ends) must(evp_final(evp, out + written, &rest) == 1, "final");
}

/* libgcrypt */
static void *gcry;
static unsigned (*gcry_setiv)(void *, const void *, size_t);
static unsigned (*gcry_encrypt)(void *, void *, size_t, const void *, size_t);

static void gcrypt_ready(void) {
    /* GCRY_CIPHER_AES, _DES, _ARCFOUR, _CHACHA20; GCRY_CIPHER_MODE_CBC, _CTR, _STREAM */
    static const int algorithms[CIPHERS] = {7, 7, 302, 301, 316}, modes[CIPHERS] = {3, 6, 3, 4, 4};
    const char *(*version)(const char *) = function("gcry_check_version");
    unsigned (*control)(int, ...) = function("gcry_control");
    unsigned (*open)(void **, int, int, unsigned) = function("gcry_cipher_open");
    unsigned (*setkey)(void *, const void *, size_t) = function("gcry_cipher_setkey");
    gcry_setiv = function(cipher == AES_CTR ? "gcry_cipher_setctr" : "gcry_cipher_setiv");
    gcry_encrypt = function("gcry_cipher_encrypt");
    version(NULL);
    control(37 /* GCRYCTL_DISABLE_SECMEM */, 0);
    control(38 /* GCRYCTL_INITIALIZATION_FINISHED */, 0);
    must(!open(&gcry, algorithms[cipher], modes[cipher], 0), "gcry_cipher_open");
    must(!setkey(gcry, key, key_B), "gcry_cipher_setkey");
}

static void gcrypt_call(void) {
    if (cipher != RC4) must(!gcry_setiv(gcry, iv, iv_B), "gcry_cipher_setiv");
    if (!pads()) {
        must(!gcry_encrypt(gcry, out, size, plain, size), "gcry_cipher_encrypt");
        return;
    }
    size_t whole = pad();
    if (whole) must(!gcry_encrypt(gcry, out, whole, plain, whole), "gcry_cipher_encrypt");
    must(!gcry_encrypt(gcry, out + whole, block, padded, block), "gcry_cipher_encrypt");
}

/* nettle */
static unsigned char nettle_context[4096] __attribute__((aligned(16)));
static void *nettle_block;
static void (*nettle_aes_cbc)(const void *, void *, size_t, void *, const void *);
static void (*nettle_mode)(const void *, void *, size_t, void *, size_t, void *, const void *);
static void (*nettle_nonce)(void *, const void *);
static void (*nettle_stream)(void *, size_t, void *, const void *);

static void nettle_ready(void) {
    void (*set)(void *, const void *);
    if (cipher == RC4) {
        void (*set_sized)(void *, size_t, const void *) = function("nettle_arcfour_set_key");
        set_sized(nettle_context, key_B, key);
        nettle_stream = function("nettle_arcfour_crypt");
        return;
    }
    set = function(cipher == DES_CBC    ? "nettle_des_set_key"
                   : cipher == CHACHA20 ? "nettle_chacha_set_key"
                                        : "nettle_aes128_set_encrypt_key");
    set(nettle_context, key);
    if (cipher == CHACHA20) {
        nettle_nonce = function("nettle_chacha_set_nonce96");
        nettle_stream = function("nettle_chacha_crypt32");
        return;
    }
    nettle_aes_cbc = function("nettle_cbc_aes128_encrypt");
    nettle_mode = function(cipher == AES_CTR ? "nettle_ctr_crypt" : "nettle_cbc_encrypt");
    nettle_block = function(cipher == DES_CBC ? "nettle_des_encrypt" : "nettle_aes128_encrypt");
}

static void nettle_blocks(unsigned char *chain, size_t length, void *to, const void *from) {
    if (cipher == AES_CBC) nettle_aes_cbc(nettle_context, chain, length, to, from);
    else nettle_mode(nettle_context, nettle_block, block, chain, length, to, from);
}

static void nettle_call(void) {
    if (cipher == RC4 || cipher == CHACHA20) {
        if (cipher == CHACHA20) nettle_nonce(nettle_context, iv);
        nettle_stream(nettle_context, size, out, plain);
        return;
    }
    unsigned char chain[BLOCK];
    size_t whole = pads() ? pad() : size;
    memcpy(chain, iv, BLOCK);
    if (whole) nettle_blocks(chain, whole, out, plain);
    if (pads()) nettle_blocks(chain, block, out + whole, padded);
}

/* libtomcrypt: the context's size is asked of the library. */
static void *tom;
static int (*tom_setiv)(const void *, unsigned long, void *);
static int (*tom_encrypt)(const void *, void *, unsigned long, void *);
static int (*tom_stream)(void *, const void *, unsigned long, void *);
static int (*tom_nonce)(void *, const void *, unsigned long, unsigned);

static void tomcrypt_ready(void) {
    static const char *const sizes[CIPHERS] = {"symmetric_CBC", "symmetric_CTR", "symmetric_CBC", "rc4_state",
                                               "chacha_state"};
    int (*add)(const void *) = function("register_cipher");
    int (*find)(const char *) = function("find_cipher");
    int (*get)(const char *, unsigned *) = function("crypt_get_size");
    unsigned context_B = 0;
    must(!get(sizes[cipher], &context_B) && context_B, "crypt_get_size");
    tom = calloc(1, context_B);
    if (cipher == RC4) {
        int (*setup)(void *, const void *, unsigned long) = function("rc4_stream_setup");
        tom_stream = function("rc4_stream_crypt");
        must(!setup(tom, key, key_B), "rc4_stream_setup");
    } else if (cipher == CHACHA20) {
        int (*setup)(void *, const void *, unsigned long, int) = function("chacha_setup");
        tom_nonce = function("chacha_ivctr32");
        tom_stream = function("chacha_crypt");
        must(!setup(tom, key, key_B, 20), "chacha_setup");
    } else if (cipher == AES_CTR) {
        int (*start)(int, const void *, const void *, int, int, int, void *) = function("ctr_start");
        tom_setiv = function("ctr_setiv");
        tom_encrypt = function("ctr_encrypt");
        add(function("aes_desc"));
        must(!start(find("aes"), iv, key, 16, 0, 0x1000 /* CTR_COUNTER_BIG_ENDIAN */, tom), "ctr_start");
    } else {
        int (*start)(int, const void *, const void *, int, int, void *) = function("cbc_start");
        tom_setiv = function("cbc_setiv");
        tom_encrypt = function("cbc_encrypt");
        add(function(cipher == DES_CBC ? "des_desc" : "aes_desc"));
        must(!start(find(cipher == DES_CBC ? "des" : "aes"), iv, key, (int)key_B, 0, tom), "cbc_start");
    }
}

static void tomcrypt_call(void) {
    if (cipher == RC4 || cipher == CHACHA20) {
        if (cipher == CHACHA20) must(!tom_nonce(tom, iv, iv_B, 0), "chacha_ivctr32");
        must(!tom_stream(tom, plain, size, out), "stream");
        return;
    }
    size_t whole = pads() ? pad() : size;
    must(!tom_setiv(iv, iv_B, tom), "setiv");
    if (whole) must(!tom_encrypt(plain, out, whole, tom), "encrypt");
    if (pads()) must(!tom_encrypt(padded, out + whole, block, tom), "encrypt");
}

/* libmcrypt works in place: what is kept is copied. */
static void *mcrypt;
static int (*mcrypt_state)(void *, const void *, int);
static int (*mcrypt_run)(void *, void *, int);

static void mcrypt_ready(void) {
    static const char *const names[CIPHERS] = {"rijndael-128", "rijndael-128", "des", "arcfour", NULL};
    static const char *const modes[CIPHERS] = {"cbc", "ctr", "cbc", "stream", NULL};
    void *(*open)(const char *, const char *, const char *, const char *) = function("mcrypt_module_open");
    int (*init)(void *, const void *, int, const void *) = function("mcrypt_generic_init");
    must(names[cipher] != NULL, "libmcrypt has no such cipher:");
    mcrypt_state = function("mcrypt_enc_set_state");
    mcrypt_run = function("mcrypt_generic");
    mcrypt = open(names[cipher], NULL, modes[cipher], NULL);
    must(mcrypt && init(mcrypt, key, (int)key_B, iv) >= 0, "mcrypt_generic_init");
    if (cipher == AES_CTR) iv_B = BLOCK + 1; /* its place in the block comes first */
}

static void mcrypt_call(void) {
    size_t whole = pads() ? pad() : size;
    if (cipher != RC4) must(!mcrypt_state(mcrypt, iv, (int)iv_B), "mcrypt_enc_set_state");
    memcpy(out, plain, whole);
    if (whole) must(!mcrypt_run(mcrypt, out, (int)whole), "mcrypt_generic");
    if (!pads()) return;
    memcpy(out + whole, padded, block);
    must(!mcrypt_run(mcrypt, out + whole, (int)block), "mcrypt_generic");
}

/* Botan, by its interface for C */
static void *botan;
static int (*botan_start)(void *, const void *, size_t);
static int (*botan_update)(void *, unsigned, void *, size_t, size_t *, const void *, size_t, size_t *);

static void botan_ready(void) {
    static const char *const names[CIPHERS] = {"AES-128/CBC/PKCS7", "CTR-BE(AES-128)", "DES/CBC/PKCS7", "RC4",
                                               "ChaCha(20)"};
    int (*init)(void **, const char *, unsigned) = function("botan_cipher_init");
    int (*set)(void *, const void *, size_t) = function("botan_cipher_set_key");
    botan_start = function("botan_cipher_start");
    botan_update = function("botan_cipher_update");
    must(!init(&botan, names[cipher], 0), "botan_cipher_init");
    must(!set(botan, key, key_B), "botan_cipher_set_key");
    if (cipher == RC4) iv_B = 0;
}

static void botan_call(void) {
    size_t written = 0, consumed = 0;
    must(!botan_start(botan, iv, iv_B), "botan_cipher_start");
    must(!botan_update(botan, 1, out, sizeof out, &written, plain, size, &consumed), "botan_cipher_update");
}

/* libsodium */
static int (*sodium_xor)(void *, const void *, unsigned long long, const void *, uint32_t, const void *);

static void sodium_ready(void) {
    int (*init)(void) = function("sodium_init");
    must(cipher == CHACHA20 && init() >= 0, "sodium_init");
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
    while (count == 5 && cipher < CIPHERS && strcmp(CIPHER_NAMES[cipher], words[3])) cipher++;
    if (count != 5 || cipher == CIPHERS || (size = strtoul(words[4], NULL, 10)) > MOST) {
        fprintf(stderr, "usage: direct_loop LIBRARY FILE CIPHER BYTES\n");
        return 2;
    }
    if (cipher == DES_CBC) block = iv_B = key_B = 8;
    if (cipher == CHACHA20) iv_B = 12, key_B = 32;
    for (size_t at = 0; at < key_B; at++) key[at] = (unsigned char)(37 * at + 11); /* no weak key of DES */
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
