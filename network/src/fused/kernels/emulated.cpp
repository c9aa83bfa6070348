// The kernels compiled for the CPU, so that tests run them without a GPU. Every CUDA thread is a
// coroutine that runs from barrier to barrier, and blocks run one after another. The scheduler
// always resumes the first thread that can run or, in the reverse order, the last one. So warps
// drift as far apart as the barriers allow, and if a barrier is missing, a thread reads a value
// that is not yet written in one of the two orders.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <ucontext.h>

#define EMULATED
#define __global__
#define __device__
#define __shared__
#define __align__(bytes) __attribute__((aligned(bytes)))

struct Dim {
    unsigned x, y, z;
};
static Dim threadIdx, blockIdx, blockDim, gridDim;
alignas(128) unsigned char memory[1 << 18];

// Conversion to 16 bits rounds to the nearest number, and ties to even.
struct __nv_bfloat16 {
    uint16_t bits;
};
inline float __bfloat162float(__nv_bfloat16 x) {
    uint32_t bits = uint32_t(x.bits) << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
inline __nv_bfloat16 __float2bfloat16(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return {uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}
struct __half {
    _Float16 value;
};
inline float __half2float(__half x) { return float(x.value); }
inline __half __float2half(float x) { return {_Float16(x)}; }
inline float __expf(float x) { return expf(x); }
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
// Threads switch only at barriers, so the addition needs no lock.
inline void atomicAdd(float *to, float x) { *to += x; }

// Threads wait until `expected` of them have arrived.
struct Barrier {
    unsigned expected, arrived, round;
};

// One thread of the running block.
struct Thread {
    ucontext_t context;
    std::vector<char> stack;
    bool ended;
    // The barrier that the thread waits for, and the barrier's round at that time.
    Barrier *barrier;
    unsigned entered;

    bool can_go_on() const { return !ended && (!barrier || barrier->round != entered); }
};
static ucontext_t scheduler;
static std::vector<Thread> threads;
static unsigned running;

static void wait(Barrier &barrier) {
    Thread &thread = threads[running];
    thread.barrier = &barrier;
    thread.entered = barrier.round;
    if (++barrier.arrived == barrier.expected) {
        barrier.arrived = 0;
        barrier.round++;
    }
    swapcontext(&thread.context, &scheduler);
}

static Barrier block_barrier;
static std::vector<Barrier> warp_barriers;
static std::vector<float> exchanged;

inline void __syncthreads() { wait(block_barrier); }
inline void __syncwarp() { wait(warp_barriers[threadIdx.x / 32]); }
inline float __shfl_xor_sync(unsigned, float x, int apart) {
    exchanged[threadIdx.x] = x;
    __syncwarp();
    float other = exchanged[threadIdx.x ^ apart];
    __syncwarp();
    return other;
}

// Every lane holds the whole matrices, row by row.
namespace nvcuda::wmma {
struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major };

template <typename Use, int M, int N, int K, typename T, typename Layout = void> struct fragment {
    float x[16][16];
};
template <typename F> void fill_fragment(F &f, float value) {
    for (auto &row : f.x) std::fill(row, row + 16, value);
}
float number(__nv_bfloat16 x) { return __bfloat162float(x); }
float number(__half x) { return __half2float(x); }
template <typename Use, typename T, typename Layout>
void load_matrix_sync(fragment<Use, 16, 16, 16, T, Layout> &f, const T *from, unsigned stride) {
    for (int row = 0; row < 16; row++)
        for (int column = 0; column < 16; column++)
            f.x[row][column] = number(std::is_same_v<Layout, row_major>
                                          ? from[row * stride + column]
                                          : from[column * stride + row]);
}
template <typename C, typename A, typename B>
void mma_sync(C &out, const A &a, const B &b, const C &c) {
    out = c;
    for (int row = 0; row < 16; row++)
        for (int k = 0; k < 16; k++)
            for (int column = 0; column < 16; column++)
                out.x[row][column] += a.x[row][k] * b.x[k][column];
}
template <typename F> void store_matrix_sync(float *to, const F &f, unsigned stride, layout_t) {
    for (int row = 0; row < 16; row++)
        for (int column = 0; column < 16; column++) to[row * stride + column] = f.x[row][column];
}
} // namespace nvcuda::wmma

#include "bf16.cu"
#include "f16.cu"
#include "f32.cu"

// Calls a kernel with the arguments at `args`, as cuLaunchKernel does.
using Call = void (*)(void (*)(), void **);
template <typename... A> void call(void (*kernel)(), void **args) {
    [&]<size_t... I>(std::index_sequence<I...>) {
        ((void (*)(A...))kernel)(*(A *)args[I]...);
    }(std::index_sequence_for<A...>());
}
template <typename... A> std::pair<void (*)(), Call> entry(void (*kernel)(A...)) {
    return {(void (*)())kernel, call<A...>};
}
#define NAMED(name) {#name, entry(name)}
#define NAMED_NORMS(T, CHUNKS)                                                                    \
    NAMED(add_norm_##CHUNKS##_##T), NAMED(add_norm_back_##CHUNKS##_##T)
#define NAMED_KERNELS(T)                                                                          \
    NAMED(attention_##T), NAMED(attention_back_##T), NAMED(embed_##T), NAMED(gelu_##T),           \
        NAMED(gelu_back_##T), NAMED_NORMS(T, 1), NAMED_NORMS(T, 2), NAMED_NORMS(T, 4), NAMED_NORMS(T, 8)
static const std::map<std::string, std::pair<void (*)(), Call>> kernels = {
    NAMED_KERNELS(float), NAMED_KERNELS(f16), NAMED_KERNELS(bf16), NAMED(activated_sums_float),
    NAMED(activated_sums_back_float)};

static std::pair<void (*)(), Call> current;
static void **arguments;

static void run() {
    current.second(current.first, arguments);
    threads[running].ended = true;
    swapcontext(&threads[running].context, &scheduler);
}

// Chooses the next thread; false if none can run.
static bool pick(bool backwards) {
    for (unsigned turn = 0; turn < threads.size(); turn++) {
        running = backwards ? threads.size() - 1 - turn : turn;
        if (threads[running].can_go_on()) return true;
    }
    return false;
}

// Runs a kernel; false if no kernel has this name, it needs too much memory, or `block` is not a
// multiple of 32.
extern "C" bool emulate(const char *name, const unsigned *grid, unsigned block, unsigned shared,
                        bool backwards, void **args) {
    auto found = kernels.find(name);
    if (found == kernels.end() || shared > sizeof memory || block % 32 != 0) return false;
    current = found->second;
    arguments = args;
    gridDim = {grid[0], grid[1], 1};
    blockDim = {block, 1, 1};
    threads.resize(block);
    exchanged.resize(block);
    for (blockIdx.y = 0; blockIdx.y < gridDim.y; blockIdx.y++)
        for (blockIdx.x = 0; blockIdx.x < gridDim.x; blockIdx.x++) {
            // Overwrites the memory of the previous block, so that no kernel relies on it.
            memset(memory, 0xff, sizeof memory);
            block_barrier = {block, 0, 0};
            warp_barriers.assign(block / 32, {32, 0, 0});
            for (Thread &thread : threads) {
                thread.stack.resize(1 << 16);
                thread.ended = false;
                thread.barrier = nullptr;
                getcontext(&thread.context);
                thread.context.uc_stack.ss_sp = thread.stack.data();
                thread.context.uc_stack.ss_size = thread.stack.size();
                thread.context.uc_link = nullptr;
                makecontext(&thread.context, run, 0);
            }
            while (pick(backwards)) {
                threadIdx = {running, 0, 0};
                swapcontext(&scheduler, &threads[running].context);
            }
        }
    return true;
}
