// The oracle engine on a GPU: the loops of kernels/oracle.py, over the integers modulo the prime 2^31 - 1.
//
// theta has shape (2, ld, ld): two independent draws, the remaining variables in the leading v rows and columns of
// each. bits[i] has a bit for every neighbour of i in the moral subgraph.

typedef long long int64;
typedef unsigned long long uint64;

#define PRIME 2147483647u
#define ALL 0xffffffffu

// A Mersenne prime: the part above bit 31 can be added to the part below.
__device__ __forceinline__ unsigned fold(uint64 x) {
    x = (x & PRIME) + (x >> 31);
    x = (x & PRIME) + (x >> 31);
    return x >= PRIME ? (unsigned)(x - PRIME) : (unsigned)x;
}

__device__ __forceinline__ unsigned times(unsigned x, unsigned y) { return fold((uint64)x * y); }

// theta = X Omega X^T: one thread per entry, tiles of 16 by 16 through shared memory.
extern "C" __global__ void precision(const unsigned* X, const unsigned* variances, int p, unsigned* theta) {
    __shared__ unsigned left[16][17], right[16][17];
    int copy = blockIdx.z, i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    const unsigned *x = X + (int64)copy * p * p, *omega = variances + (int64)copy * p;
    uint64 sum = 0;
    for (int start = 0; start < p; start += 16) {
        int c = start + threadIdx.x, other = blockIdx.x * 16 + threadIdx.y;
        left[threadIdx.y][threadIdx.x] = i < p && c < p ? times(x[(int64)i * p + c], omega[c]) : 0;
        right[threadIdx.y][threadIdx.x] = other < p && c < p ? x[(int64)other * p + c] : 0;
        __syncthreads();
        for (int t = 0; t < 16; t++) {
            uint64 term = (uint64)left[threadIdx.y][t] * right[threadIdx.x][t];
            sum += (term & PRIME) + (term >> 31);
        }
        __syncthreads();
    }
    if (i < p && j < p) theta[((int64)copy * p + i) * p + j] = fold(sum);
}

// Which pairs are adjacent: those where either draw is not zero. One block per row.
extern "C" __global__ void pattern(const unsigned* theta, int ld, int v, int words, unsigned* bits, int64* degrees) {
    __shared__ int degree;
    int i = blockIdx.x, lane = threadIdx.x & 31, found = 0;
    const unsigned *first = theta + (int64)i * ld, *second = first + (int64)ld * ld;
    if (threadIdx.x == 0) degree = 0;
    __syncthreads();
    for (int word = threadIdx.x >> 5; word < words; word += blockDim.x >> 5) {
        int j = word * 32 + lane;
        unsigned row = __ballot_sync(ALL, j < v && j != i && (first[j] || second[j]));
        if (lane == 0) bits[(int64)i * words + word] = row;
        found += __popc(row);
    }
    if (lane == 0) atomicAdd(&degree, found);
    __syncthreads();
    if (threadIdx.x == 0) degrees[i] = degree;
}

// Counts the pairs of neighbours of each k that are not adjacent. One block per candidate, one warp per neighbour.
extern "C" __global__ void count_missing(const unsigned* bits, int v, int words, int64* fills) {
    extern __shared__ unsigned row[];
    __shared__ uint64 total;
    int k = blockIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    for (int word = threadIdx.x; word < words; word += blockDim.x) row[word] = bits[(int64)k * words + word];
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    uint64 missing = 0;
    for (int i = warp; i < v; i += blockDim.x >> 5) {
        if (!(row[i >> 5] >> (i & 31) & 1)) continue;
        const unsigned* other = bits + (int64)i * words;
        for (int word = lane; word < words; word += 32) missing += __popc(row[word] & ~other[word]);
        // A neighbour is not a neighbour of itself.
        if (lane == 0) missing--;
    }
    atomicAdd(&total, missing);
    __syncthreads();
    if (threadIdx.x == 0) fills[k] = total / 2;
}

__device__ __forceinline__ bool vanishes(const unsigned* theta, int ld, int i, int j, int k) {
    for (int copy = 0; copy < 2; copy++) {
        const unsigned* draw = theta + (int64)copy * ld * ld;
        unsigned x = times(draw[(int64)i * ld + j], draw[(int64)k * ld + k]);
        if (x != times(draw[(int64)i * ld + k], draw[(int64)j * ld + k])) return false;
    }
    return true;
}

// Counts the edges that vanish with each k without fill; the other candidates remove none (Propositions 2 and 3).
extern "C" __global__ void count_vanishing(const unsigned* theta, int ld, int v, const unsigned* bits, int words,
                                           const int64* fills, int64* removals) {
    extern __shared__ int near[];
    __shared__ int count;
    __shared__ uint64 total;
    int k = blockIdx.x, lane = threadIdx.x & 31;
    if (fills[k]) {
        if (threadIdx.x == 0) removals[k] = 0;
        return;
    }
    if (threadIdx.x == 0) total = count = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < v; i += blockDim.x)
        if (bits[(int64)k * words + (i >> 5)] >> (i & 31) & 1) near[atomicAdd(&count, 1)] = i;
    __syncthreads();
    uint64 vanish = 0;
    for (int s = 1 + (threadIdx.x >> 5); s < count; s += blockDim.x >> 5)
        for (int t = lane; t < s; t += 32) vanish += vanishes(theta, ld, near[s], near[t], k);
    atomicAdd(&total, vanish);
    __syncthreads();
    if (threadIdx.x == 0) removals[k] = total;
}

// Copies the column of k from both draws, as it will be once the last variable has taken its place.
extern "C" __global__ void take(const unsigned* theta, int ld, int v, int k, unsigned* column) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, copy = blockIdx.y, last = v - 1;
    if (i >= v || i == k) return;
    column[copy * ld + (i == last ? k : i)] = theta[((int64)copy * ld + i) * ld + k];
}

// Removes k: one elimination step on each draw; the last variable takes its place. One block per row and draw.
extern "C" __global__ void marginalise(unsigned* theta, int ld, int v, int k, const unsigned* column,
                                       unsigned first_pivot, unsigned second_pivot) {
    int i = blockIdx.x, copy = blockIdx.y, last = v - 1;
    unsigned* draw = theta + (int64)copy * ld * ld;
    unsigned* row = draw + (int64)i * ld;
    const unsigned* source = i == k ? draw + (int64)last * ld : row;
    const unsigned* others = column + copy * ld;
    unsigned scaled = times(others[i], copy ? second_pivot : first_pivot);
    for (int j = threadIdx.x; j < last; j += blockDim.x) {
        unsigned old = source[j == k ? last : j], product = times(scaled, others[j]);
        row[j] = old >= product ? old - product : old + PRIME - product;
    }
}
