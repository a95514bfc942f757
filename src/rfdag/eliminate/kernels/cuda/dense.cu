// The dense engine on a GPU: the loops of kernels/dense.py, on the matrix K of partial correlations.
//
// The remaining variables fill the leading v rows and columns of K, whose rows have `ld` entries, a multiple of BLOCK
// with zeros beyond column v; removing one moves the last into its place. peaks[i, b] is the largest |K_ik| over the
// candidates k != i of block b. Arithmetic that decides edges is rounded operation by operation, as on the CPU, so
// that both see the same graphs.

typedef long long int64;
typedef unsigned long long uint64;

#define BLOCK 32
#define SLACK 1e-12
#define ALL 0xffffffffu

// The counts of one pass over the matrix; distances are stored as the bits of a double, which sort like the number.
struct Tally {
    uint64 edges, margin, spoilt, removed, filled;
};

__device__ __forceinline__ double product(double x, double y) { return __dmul_rn(x, y); }

__device__ __forceinline__ double left_of(double x) { return __dsub_rn(1.0, product(x, x)); }

// Whether a pair with K_ij = r passes tau_after once k with K_ik = a and K_jk = b is removed.
__device__ __forceinline__ bool stays(double r, double a, double b, double square) {
    double x = __dadd_rn(r, product(a, b));
    return product(x, x) > product(product(square, left_of(a)), left_of(b));
}

__device__ __forceinline__ double largest_of_warp(double x) {
    for (int step = 16; step; step >>= 1) {
        double other = __shfl_xor_sync(ALL, x, step);
        x = other > x ? other : x;
    }
    return x;
}

__device__ __forceinline__ double least_of_warp(double x) {
    for (int step = 16; step; step >>= 1) {
        double other = __shfl_xor_sync(ALL, x, step);
        x = other < x ? other : x;
    }
    return x;
}

// Scans 32 entries of row i from column j: peak, edges to earlier rows, distance to tau. Returns the row's edges.
__device__ __forceinline__ int look(double size, int i, int j, int v, double tau, double* peaks, double* margin,
                                    Tally* tally, int* edges_i, int* edges_j) {
    int lane = threadIdx.x & 31;
    double peak = largest_of_warp(size);
    if (lane == 0) *peaks = peak;
    bool inside = j < v && j != i, earlier = j < i, edge = inside && size > tau;
    if (inside) {
        double distance = fabs(size - tau);
        if (distance < *margin) *margin = distance;
    }
    unsigned mine = __ballot_sync(ALL, edge && earlier);
    if (mine) {
        uint64 start = 0;
        if (lane == 0) start = atomicAdd(&tally->edges, (uint64)__popc(mine));
        start = __shfl_sync(ALL, start, 0);
        if (edge && earlier) {
            uint64 at = start + __popc(mine & ((1u << lane) - 1));
            edges_i[at] = i;
            edges_j[at] = j;
        }
    }
    return __popc(__ballot_sync(ALL, edge));
}

// Lists edges, counts degrees, finds block peaks and the smallest distance to tau. One block per row.
extern "C" __global__ void scan(double* K, int ld, int v, double tau, int64* degrees, double* peaks, int* edges_i,
                                int* edges_j, Tally* tally) {
    __shared__ int degree;
    int i = blockIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5, found = 0;
    double margin = __longlong_as_double((int64)tally->margin);
    if (threadIdx.x == 0) degree = 0;
    __syncthreads();
    for (int start = warp * BLOCK; start < v; start += blockDim.x) {
        int j = start + lane;
        double size = j < v && j != i ? fabs(K[(int64)i * ld + j]) : 0.0;
        found += look(size, i, j, v, tau, peaks + (int64)i * (ld / BLOCK) + start / BLOCK, &margin, tally, edges_i,
                      edges_j);
    }
    margin = least_of_warp(margin);
    if (lane == 0) {
        atomicAdd(&degree, found);
        atomicMin(&tally->margin, (uint64)__double_as_longlong(margin));
    }
    __syncthreads();
    if (threadIdx.x == 0) degrees[i] = degree;
}

// Copies the row of k, as it will be once the last variable has taken its place, with u = 1 / sqrt(1 - a^2).
extern "C" __global__ void take(const double* K, int ld, int v, int k, double* a, double* u, Tally* tally) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, last = v - 1;
    if (i >= v || i == k) return;
    double x = K[(int64)k * ld + i], left = left_of(x);
    int at = i == last ? k : i;
    a[at] = x;
    u[at] = __ddiv_rn(1.0, __dsqrt_rn(left));
    if (!(left > 1e-15)) atomicMin(&tally->spoilt, (uint64)at);
}

// Removes k: the last variable takes its place, the rank-one update is applied, and the rest is scanned as in
// `scan`. Also counts the edges removed and added. One block per remaining row.
extern "C" __global__ void marginalise(double* K, int ld, int v, int k, const double* a, const double* u, double tau,
                                       double tau_after, int64* degrees, double* peaks, int* edges_i, int* edges_j,
                                       Tally* tally) {
    __shared__ int degree;
    int i = blockIdx.x, last = v - 1, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int found = 0, removed = 0, filled = 0;
    double margin = __longlong_as_double((int64)tally->margin), square = product(tau_after, tau_after);
    bool invalid = false;
    double* row = K + (int64)i * ld;
    const double* source = i == k ? K + (int64)last * ld : row;
    double moved = source[last], a_i = a[i], u_i = u[i];
    if (threadIdx.x == 0) degree = 0;
    __syncthreads();
    for (int start = warp * BLOCK; start < v; start += blockDim.x) {
        int j = start + lane;
        double size = 0.0;
        if (j < last && j != i) {
            double old = j == k ? moved : source[j], a_j = a[j];
            double now = product(__dadd_rn(old, product(a_i, a_j)), product(u_i, u[j]));
            row[j] = now;
            size = fabs(now);
            if (j < i) {
                bool was = fabs(old) > tau, is = stays(old, a_i, a_j, square);
                removed += was && !is;
                filled += is && !was;
            }
        } else if (j < v) {
            row[j] = j == i ? 1.0 : 0.0;
        }
        // NaN is not at most 1, either.
        invalid |= !(size <= 1.0);
        found += look(size, i, j, last, tau_after, peaks + (int64)i * (ld / BLOCK) + start / BLOCK, &margin, tally,
                      edges_i, edges_j);
    }
    margin = least_of_warp(margin);
    invalid = __any_sync(ALL, invalid);
    for (int step = 16; step; step >>= 1) {
        removed += __shfl_xor_sync(ALL, removed, step);
        filled += __shfl_xor_sync(ALL, filled, step);
    }
    if (lane == 0) {
        atomicAdd(&degree, found);
        atomicMin(&tally->margin, (uint64)__double_as_longlong(margin));
        // Behind the variables that k determines, which `take` has found.
        if (invalid) atomicMin(&tally->spoilt, (uint64)(v + i));
        if (removed) atomicAdd(&tally->removed, (uint64)removed);
        if (filled) atomicAdd(&tally->filled, (uint64)filled);
    }
    __syncthreads();
    if (threadIdx.x == 0) degrees[i] = degree;
}

// Adds to removals[k] the edges that vanish when k is removed. One warp per edge; blocks of candidates whose peaks
// are too low to remove it are skipped.
extern "C" __global__ void count_removals(const double* K, int ld, int v, double tau_after, const double* peaks,
                                          const int* edges_i, const int* edges_j, int64 edges, int* removals) {
    int lane = threadIdx.x & 31, blocks = (v + BLOCK - 1) / BLOCK, stride = ld / BLOCK;
    double square = product(tau_after, tau_after);
    int64 warps = (int64)gridDim.x * (blockDim.x >> 5);
    for (int64 e = (int64)blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5); e < edges; e += warps) {
        int i = edges_i[e], j = edges_j[e];
        const double *row_i = K + (int64)i * ld, *row_j = K + (int64)j * ld;
        const double *peaks_i = peaks + (int64)i * stride, *peaks_j = peaks + (int64)j * stride;
        double r = row_i[j], needed = fabs(r) - tau_after - SLACK;
        for (int start = 0; start < blocks; start += 32) {
            int b = start + lane;
            unsigned open = __ballot_sync(ALL, b < blocks && peaks_i[b] * peaks_j[b] >= needed);
            while (open) {
                int k = (start + __ffs(open) - 1) * BLOCK + lane;
                open &= open - 1;
                if (k < v && k != i && k != j && !stays(r, row_i[k], row_j[k], square)) atomicAdd(removals + k, 1);
            }
        }
    }
}

// Adds to fills[k] the non-edges that appear when k is removed. One block per row, one warp per earlier row.
extern "C" __global__ void count_fills(const double* K, int ld, int v, double tau, double tau_after,
                                       const double* peaks, int* fills) {
    int i = v - 1 - blockIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int blocks = (v + BLOCK - 1) / BLOCK, stride = ld / BLOCK;
    double square = product(tau_after, tau_after);
    const double *row_i = K + (int64)i * ld, *peaks_i = peaks + (int64)i * stride;
    for (int j = warp; j < i; j += blockDim.x >> 5) {
        double r = row_i[j];
        if (fabs(r) > tau) continue;
        const double *row_j = K + (int64)j * ld, *peaks_j = peaks + (int64)j * stride;
        for (int start = 0; start < blocks; start += 32) {
            int b = start + lane;
            bool possible = false;
            if (b < blocks) {
                double p = peaks_i[b], q = peaks_j[b], top = fabs(r) + p * q;
                possible = top * top > square * (1.0 - p * p) * (1.0 - q * q) - SLACK;
            }
            unsigned open = __ballot_sync(ALL, possible);
            while (open) {
                int k = (start + __ffs(open) - 1) * BLOCK + lane;
                open &= open - 1;
                if (k < v && k != i && k != j && stays(r, row_i[k], row_j[k], square)) atomicAdd(fills + k, 1);
            }
        }
    }
}

// Scores candidates first, first + 1, ... on the pairs inside their neighbourhood, one block each. The neighbours are
// listed in shared memory.
extern "C" __global__ void neighbour_scores(const double* K, int ld, int v, double tau, double tau_after, int first,
                                            int64* removals, int64* fills) {
    extern __shared__ int near[];
    __shared__ int count, vanished, missed;
    int k = first + blockIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5, vanish = 0, missing = 0;
    const double* row = K + (int64)k * ld;
    double square = product(tau_after, tau_after);
    if (threadIdx.x == 0) count = vanished = missed = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < v; i += blockDim.x)
        if (i != k && fabs(row[i]) > tau) near[atomicAdd(&count, 1)] = i;
    __syncthreads();
    for (int s = 1 + warp; s < count; s += blockDim.x >> 5) {
        int i = near[s];
        double a = row[i];
        for (int t = lane; t < s; t += 32) {
            int j = near[t];
            double r = K[(int64)i * ld + j];
            if (fabs(r) > tau)
                vanish += !stays(r, a, row[j], square);
            else
                missing++;
        }
    }
    for (int step = 16; step; step >>= 1) {
        vanish += __shfl_xor_sync(ALL, vanish, step);
        missing += __shfl_xor_sync(ALL, missing, step);
    }
    if (lane == 0) {
        atomicAdd(&vanished, vanish);
        atomicAdd(&missed, missing);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        removals[k] = vanished;
        fills[k] = missed;
    }
}

// Marks, for each pair j < i, whether it vanishes (1) or appears (2) when k is removed. One block per row.
extern "C" __global__ void mark_changes(const double* K, int ld, int v, int k, double tau, double tau_after,
                                        unsigned char* marks) {
    int i = blockIdx.x;
    double square = product(tau_after, tau_after), a = K[(int64)k * ld + i];
    for (int j = threadIdx.x; j < v; j += blockDim.x) {
        int mark = 0;
        if (j < i && i != k && j != k) {
            double r = K[(int64)i * ld + j];
            bool was = fabs(r) > tau, is = stays(r, a, K[(int64)k * ld + j], square);
            mark = was && !is ? 1 : is && !was ? 2 : 0;
        }
        marks[(int64)i * v + j] = mark;
    }
}
