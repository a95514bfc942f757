// The soft cost on a GPU: the loops of kernels/soft.py, over all states of a batch.
//
// State e is a base matrix over m slots and the steps since it was computed, which are pending: entry (i, j) of the
// current precision matrix is base_ij - sum_s w_si w_sj, and u_i = 1 / sqrt(its diagonal), 0 for removed slots. Only
// the lower triangle of a base is stored; its diagonal is one. Weights are phi = before * K^2 - quiet, clipped to
// [0, 1].
//
// plan[e] = base, source, gone, line_0, line_1, ...: the base of the state, the state it continues, the slot removed,
// and the index of its vector for each pending step.
//
// All sums are independent of the order in which blocks run, so equal input gives equal output.

typedef long long int64;
typedef unsigned long long uint64;

#define TILE 64
#define BASE 0
#define SOURCE 1
#define GONE 2
#define LINES 3
#define HEADS 512

__device__ __forceinline__ double weigh(double square, double scale, double quiet) {
    double x = square * scale - quiet;
    x = x < 1.0 ? x : 1.0;
    return x > 0.0 ? x : 0.0;
}

// 1 / x without a division: a single-precision guess and two Newton steps.
__device__ __forceinline__ double inverse(double x) {
    double y = (double)(1.0f / (float)x);
    y = y * (2.0 - x * y);
    return y * (2.0 - x * y);
}

__device__ __forceinline__ double entry(const double* base, int64 ld, int i, int j) {
    return i > j ? base[i * ld + j] : base[j * ld + i];
}

__device__ double sum_over_block(double value) {
    __shared__ double part[32];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    for (int step = 16; step; step >>= 1) value += __shfl_xor_sync(0xffffffffu, value, step);
    __syncthreads();
    if (lane == 0) part[warp] = value;
    __syncthreads();
    value = lane < (blockDim.x >> 5) ? part[lane] : 0.0;
    for (int step = 16; step; step >>= 1) value += __shfl_xor_sync(0xffffffffu, value, step);
    return value;
}

// Returns the sum over earlier threads, and the sum over all in *total.
__device__ int scan_over_block(int value, int* total) {
    __shared__ int part[32];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, sum = value;
    for (int step = 1; step < 32; step <<= 1) {
        int other = __shfl_up_sync(0xffffffffu, sum, step);
        if (lane >= step) sum += other;
    }
    __syncthreads();
    if (lane == 31) part[warp] = sum;
    __syncthreads();
    int before = 0, all = 0;
    for (int other = 0; other < (blockDim.x >> 5); other++) {
        if (other < warp) before += part[other];
        all += part[other];
    }
    *total = all;
    return before + sum - value;
}

// Sums four values over the lanes of a warp; lane l ends with the sum of value 2 * bit4 + bit3 of l.
__device__ __forceinline__ double sum_four(double* x) {
    int lane = threadIdx.x & 31;
#pragma unroll
    for (int half = 2, step = 16; half; half >>= 1, step >>= 1) {
        bool upper = lane & step;
#pragma unroll
        for (int r = 0; r < half; r++) {
            double kept = upper ? x[r + half] : x[r], sent = upper ? x[r] : x[r + half];
            x[r] = kept + __shfl_xor_sync(0xffffffffu, sent, step);
        }
    }
    for (int step = 4; step; step >>= 1) x[0] += __shfl_xor_sync(0xffffffffu, x[0], step);
    return x[0];
}

// The power of two by which a sum over the pairs of `count` neighbours, none heavier than one, may be multiplied
// without leaving 62 bits.
__device__ __forceinline__ double room(int count) {
    return __longlong_as_double((int64)(1023 + 62 - 2 * (32 - __clz(count))) << 52);
}
