// Attention over short sequences: a block has one head of one sample in shared memory, each of its warps
// sixteen rows of the attention weights.
#include "common.cuh"

// Columns of a row of weights that a lane holds: sequences of up to 96.
constexpr int HELD = 3;

template <typename T> struct Attention {
    const T *packed; // (batch, length, 3 * heads * head)
    const T *bias;   // (3 * heads * head)
    int length, heads, head;
    Mask mask;

    // Rows of a matrix of heads, padded so that neighbouring rows fall into different banks.
    __device__ int stride() const { return head + 16 / (int)sizeof(T); }
    __device__ int padded() const { return (length + TILE - 1) / TILE * TILE; }
    __device__ int hidden() const { return heads * head; }

    // Fills `to` with this block's rows of `from`, which has `width` columns, from `column` on.
    __device__ void load(T *to, const T *from, int width, int column, const T *bias) const {
        int quarters = head / 4;
        for (int i = threadIdx.x; i < padded() * quarters; i += blockDim.x) {
            int row = i / quarters, first = i % quarters * 4;
            Four<T> four;
            for (int j = 0; j < 4; j++) set(four.values[j], 0.0f);
            if (row < length) {
                long place = ((long)blockIdx.y * length + row) * width + column + first;
                four = *(const Four<T> *)(from + place);
                if (bias)
                    for (int j = 0; j < 4; j++)
                        set(four.values[j],
                            to_float(four.values[j]) + to_float(bias[column + first + j]));
            }
            *(Four<T> *)(to + row * stride() + first) = four;
        }
    }

    // Queries, keys (part 1) or values (part 2).
    __device__ void load_part(T *to, int part) const {
        load(to, packed, 3 * hidden(), part * hidden() + blockIdx.x * head, bias);
    }

    // Softmax of a row of scaled scores: each lane's columns.
    __device__ void softmax(const float *scores, float (&weights)[HELD]) const {
        int lane = threadIdx.x % WARP;
        float scale = rsqrtf((float)head), largest = -INFINITY, sum = 0.0f;
        for (int i = 0; i < HELD; i++) {
            int column = lane + i * WARP;
            weights[i] = column < length ? scores[column] * scale : -INFINITY;
            largest = fmaxf(largest, weights[i]);
        }
        largest = warp_max(largest);
        for (int i = 0; i < HELD; i++) {
            weights[i] = __expf(weights[i] - largest);
            sum += weights[i];
        }
        sum = warp_sum(sum);
        for (int i = 0; i < HELD; i++) weights[i] /= sum;
    }

    // Of the weight of `column` in `row`.
    __device__ float factor(int row, int column) const {
        unsigned sample = blockIdx.y * heads + blockIdx.x;
        return mask.factor((sample * length + row) * length + column);
    }

    // Writes a tile of rows from `row` on to `to`, which has `width` columns, from `column` on.
    __device__ void store(T *to, int width, int row, int column, const float *tile) const {
        for (int i = threadIdx.x % WARP; i < TILE * TILE / 4; i += WARP) {
            int below = i / (TILE / 4), first = i % (TILE / 4) * 4;
            if (row + below >= length) continue;
            Four<T> four;
            for (int j = 0; j < 4; j++) set(four.values[j], tile[below * TILE + first + j]);
            long place = ((long)blockIdx.y * length + row + below) * width + column + first;
            *(Four<T> *)(to + place) = four;
        }
    }
};

template <typename T> __device__ void forward(Attention<T> a, T *mixed) {
    extern __shared__ __align__(128) unsigned char memory[];
    int stride = a.stride(), padded = a.padded(), lane = threadIdx.x % WARP;
    T *q = (T *)memory, *k = q + padded * stride, *v = k + padded * stride;
    a.load_part(q, 0);
    a.load_part(k, 1);
    a.load_part(v, 2);
    __syncthreads();

    // From here on every warp works on its own.
    int warp = threadIdx.x / WARP, row = warp * TILE, wide = padded + 4;
    float *scores = (float *)(v + padded * stride) + warp * TILE * (wide + TILE);
    float *tile = scores + TILE * wide;
    for (int column = 0; column < padded; column += TILE)
        multiply<ByRow, ByColumn>(q + row * stride, stride, k + column * stride, stride, a.head,
                                  scores + column, wide);
    __syncwarp();
    // A row's weights take the place of its scores.
    T *weights = (T *)scores;
    int weights_stride = wide * (int)(sizeof(float) / sizeof(T));
    for (int i = 0; i < TILE; i++) {
        float own[HELD];
        a.softmax(scores + i * wide, own);
        __syncwarp();
        for (int j = 0; j < HELD; j++) {
            int column = lane + j * WARP;
            if (column < padded)
                set(weights[i * weights_stride + column], own[j] * a.factor(row + i, column));
        }
    }
    __syncwarp();
    for (int column = 0; column < a.head; column += TILE) {
        multiply<ByRow, ByRow>(weights, weights_stride, v + column, stride, padded, tile, TILE);
        __syncwarp();
        a.store(mixed, a.hidden(), row, blockIdx.x * a.head + column, tile);
        __syncwarp();
    }
}

// With P the softmax, M the mask's factors and dO the gradient: dV = (P M)' dO; dP = M (dO V');
// dS = P (dP - rowsum(P dP)) / sqrt(head); dQ = dS K; dK = dS' Q.
template <typename T> __device__ void backward(Attention<T> a, const T *gradient, T *slopes) {
    extern __shared__ __align__(128) unsigned char memory[];
    int stride = a.stride(), padded = a.padded(), lane = threadIdx.x % WARP;
    int warp = threadIdx.x / WARP, row = warp * TILE, wide = padded + 8;
    T *q = (T *)memory, *k = q + padded * stride, *v = k + padded * stride;
    T *g = v + padded * stride;
    T *weights = g + padded * stride, *score_slopes = weights + padded * wide;
    float *scores = (float *)(score_slopes + padded * wide) + warp * TILE * (wide + TILE);
    float *tile = scores + TILE * wide;
    a.load_part(q, 0);
    a.load_part(k, 1);
    a.load_part(v, 2);
    a.load(g, gradient, a.hidden(), blockIdx.x * a.head, nullptr);
    __syncthreads();

    for (int column = 0; column < padded; column += TILE)
        multiply<ByRow, ByColumn>(q + row * stride, stride, k + column * stride, stride, a.head,
                                  scores + column, wide);
    __syncwarp();
    for (int i = 0; i < TILE; i++) {
        float own[HELD];
        a.softmax(scores + i * wide, own);
        for (int j = 0; j < HELD; j++) {
            int column = lane + j * WARP;
            if (column < padded) set(weights[(row + i) * wide + column], own[j]);
        }
    }
    __syncwarp();
    for (int column = 0; column < padded; column += TILE)
        multiply<ByRow, ByColumn>(g + row * stride, stride, v + column * stride, stride, a.head,
                                  scores + column, wide);
    __syncwarp();
    float scale = rsqrtf((float)a.head);
    for (int i = 0; i < TILE; i++) {
        float weight[HELD], slope[HELD], factor[HELD], mean = 0.0f;
        for (int j = 0; j < HELD; j++) {
            int column = lane + j * WARP;
            bool inside = column < padded;
            factor[j] = a.factor(row + i, column);
            weight[j] = inside ? to_float(weights[(row + i) * wide + column]) : 0.0f;
            slope[j] = inside ? factor[j] * scores[i * wide + column] : 0.0f;
            mean += weight[j] * slope[j];
        }
        mean = warp_sum(mean);
        for (int j = 0; j < HELD; j++) {
            int column = lane + j * WARP, place = (row + i) * wide + column;
            if (column < padded) {
                set(score_slopes[place], weight[j] * (slope[j] - mean) * scale);
                set(weights[place], weight[j] * factor[j]);
            }
        }
    }
    __syncthreads();

    for (int column = 0; column < a.head; column += TILE) {
        int first = blockIdx.x * a.head + column;
        auto store = [&](int part) {
            __syncwarp();
            a.store(slopes, 3 * a.hidden(), row, part * a.hidden() + first, tile);
            __syncwarp();
        };
        multiply<ByRow, ByRow>(score_slopes + row * wide, wide, k + column, stride, padded, tile,
                               TILE);
        store(0);
        multiply<ByColumn, ByRow>(score_slopes + row, wide, q + column, stride, padded, tile, TILE);
        store(1);
        multiply<ByColumn, ByRow>(weights + row, wide, g + column, stride, padded, tile, TILE);
        store(2);
    }
}

#define ATTENTION(T)                                                                              \
    extern "C" __global__ void attention_##T(const T *packed, const T *bias, T *mixed, int length, \
                                             int heads, int head, Mask mask) {                    \
        forward(Attention<T>{packed, bias, length, heads, head, mask}, mixed);                    \
    }                                                                                             \
    extern "C" __global__ void attention_back_##T(const T *packed, const T *bias,                 \
                                                  const T *gradient, T *slopes, int length,       \
                                                  int heads, int head, Mask mask) {               \
        backward(Attention<T>{packed, bias, length, heads, head, mask}, gradient, slopes);        \
    }
