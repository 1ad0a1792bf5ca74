/* A plugin for QEMU that writes which blocks of instructions ran, in order, between two markers. It knows no core: cycles
 * are computed from the file that it writes.
 *
 *   qemu-system-arm ... -plugin trace.so,out=PATH,begin=ADDR,end=ADDR[,loads=LOW:HIGH]
 *
 * QEMU's header is often not installed, so what is called of it is declared here. `-DAPI=2` makes the plugin that QEMU 9.0
 * and newer want (they refuse version 1), without it the plugin for 4.2 to 8.2.
 *
 * The file: 8 bytes "WLTRACE1", then words of 32 bits, little-endian.
 *   0x0000_0000 + n             block n ran
 *   0x8000_0000 + n, pc, size   block n begins at pc and has so many instructions; stands before its first run
 *   0xc000_0000                 the begin marker ran: a region starts with the next block
 *   0xc000_0001                 the end marker was reached: the region's last instruction was the call of it
 *   0xc000_0002, k              only k instructions of the block before ran (an exception, a device's register)
 *   0xc000_0003, low, high      loads from low to below high are in the file; stands once, at its head
 *   0xc000_0004                 the file is whole
 *   0xd000_0000 + i, address    instruction i of the block that ran last loaded from this address
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef API
#define API 1
#endif
#define EXPORT __attribute__((visibility("default")))

/* What QEMU's documentation of its plugin interface says of each; enumerations are passed as int. */
typedef uint64_t plugin_id;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum { NO_REGISTERS = 0, READS = 1, ADD_U64 = 0 };
extern void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, void (*)(plugin_id, struct qemu_plugin_tb *));
extern void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, void (*)(unsigned, void *), int, void *);
extern void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, void (*)(unsigned, uint32_t, uint64_t, void *), int,
                                             int, void *);
extern void qemu_plugin_register_atexit_cb(plugin_id, void (*)(plugin_id, void *), void *);
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
extern uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *);
extern struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
#if API == 1
extern void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *, int, void *, uint64_t);
#else
struct qemu_plugin_scoreboard;
typedef struct {
    struct qemu_plugin_scoreboard *score;
    size_t offset;
} per_vcpu;
extern struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t);
extern void *qemu_plugin_scoreboard_find(struct qemu_plugin_scoreboard *, unsigned);
extern void qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(struct qemu_plugin_insn *, int, per_vcpu, uint64_t);
static per_vcpu counter;
#endif

EXPORT int qemu_plugin_version = API;

enum { BLOCK = 0x80000000u, BEGIN = 0xc0000000u, END, SHORT, WINDOW, WHOLE, LOAD = 0xd0000000u, BUFFER = 1 << 16 };

static FILE *out;
static uint32_t buffer[BUFFER];
static size_t filled;
static uint32_t begin_pc, end_pc, loads_low, loads_high;
static uint32_t blocks;
static bool recording;
/* Instructions that ran in all, and where that stood when the last block began: a block that ended early is seen by it. */
#if API == 1
static uint64_t executed_v1;
#endif
static uint64_t at_block;
static uint32_t block_size;

static void flush(void) {
    if (fwrite(buffer, sizeof *buffer, filled, out) != filled) {
        perror("trace plugin: out");
        exit(1);
    }
    filled = 0;
}

static void put(uint32_t word) {
    buffer[filled++] = word;
    if (filled == BUFFER) flush();
}

static uint64_t executed(unsigned vcpu) {
#if API == 1
    (void)vcpu;
    return executed_v1;
#else
    return *(uint64_t *)qemu_plugin_scoreboard_find(counter.score, vcpu);
#endif
}

/* The block before is over: says so where not all of it ran. */
static void close_block(unsigned vcpu) {
    uint64_t ran = executed(vcpu) - at_block;
    if (recording && block_size && ran != block_size) {
        put(SHORT);
        put((uint32_t)ran);
    }
    at_block += ran;
}

static void on_block(unsigned vcpu, void *which) {
    close_block(vcpu);
    block_size = (uint32_t)((uintptr_t)which >> 32);
    if (recording) put((uint32_t)(uintptr_t)which);
}

static void on_begin(unsigned vcpu, void *unused) {
    (void)unused;
    close_block(vcpu);
    block_size = 0;
    recording = true;
    put(BEGIN);
}

static void on_end(unsigned vcpu, void *unused) {
    (void)unused;
    close_block(vcpu);
    block_size = 0;
    if (recording) put(END);
    recording = false;
}

static void on_load(unsigned vcpu, uint32_t info, uint64_t address, void *place) {
    (void)vcpu, (void)info;
    if (recording && block_size && address >= loads_low && address < loads_high) {
        put(LOAD + (uint32_t)(uintptr_t)place);
        put((uint32_t)address);
    }
}

static void on_translation(plugin_id id, struct qemu_plugin_tb *tb) {
    (void)id;
    size_t size = qemu_plugin_tb_n_insns(tb);
    uint32_t pc = (uint32_t)qemu_plugin_tb_vaddr(tb);
    for (size_t i = 0; i < size; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
#if API == 1
        qemu_plugin_register_vcpu_insn_exec_inline(insn, ADD_U64, &executed_v1, 1);
#else
        qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(insn, ADD_U64, counter, 1);
#endif
        if (loads_high) qemu_plugin_register_vcpu_mem_cb(insn, on_load, NO_REGISTERS, READS, (void *)(uintptr_t)i);
    }
    if (pc == begin_pc || pc == end_pc) {
        qemu_plugin_register_vcpu_tb_exec_cb(tb, pc == begin_pc ? on_begin : on_end, NO_REGISTERS, NULL);
        return;
    }
    put(BLOCK + blocks);
    put(pc);
    put((uint32_t)size);
    void *which = (void *)((uintptr_t)size << 32 | blocks++);
    qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, NO_REGISTERS, which);
}

static void on_end_of_run(plugin_id id, void *unused) {
    (void)id, (void)unused;
    put(WHOLE);
    flush();
    fclose(out);
}

/* The second argument tells of the machine; nothing of it is wanted. */
EXPORT int qemu_plugin_install(plugin_id id, const void *machine, int argc, char **argv) {
    (void)machine;
    for (int i = 0; i < argc; i++) {
        char *rest = NULL;
        if (!strncmp(argv[i], "out=", 4)) out = fopen(argv[i] + 4, "wb");
        else if (!strncmp(argv[i], "begin=", 6)) begin_pc = (uint32_t)strtoul(argv[i] + 6, NULL, 0) & ~1u;
        else if (!strncmp(argv[i], "end=", 4)) end_pc = (uint32_t)strtoul(argv[i] + 4, NULL, 0) & ~1u;
        else if (!strncmp(argv[i], "loads=", 6)) {
            loads_low = (uint32_t)strtoul(argv[i] + 6, &rest, 0);
            loads_high = *rest == ':' ? (uint32_t)strtoul(rest + 1, NULL, 0) : 0;
        } else {
            fprintf(stderr, "trace plugin: unknown argument %s\n", argv[i]);
            return 1;
        }
    }
    if (!out || begin_pc == end_pc) {
        fprintf(stderr, "trace plugin: wants out=PATH that can be written, begin=ADDRESS and another end=ADDRESS\n");
        return 1;
    }
    if (fwrite("WLTRACE1", 8, 1, out) != 1) return 1;
    if (loads_high) put(WINDOW), put(loads_low), put(loads_high);
#if API != 1
    counter.score = qemu_plugin_scoreboard_new(sizeof(uint64_t));
#endif
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_atexit_cb(id, on_end_of_run, NULL);
    return 0;
}
