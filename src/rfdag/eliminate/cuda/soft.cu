// The soft rule on a GPU: the loops of _soft_kernels.py, over all states of a batch.
//
// State e is a base matrix over m slots and the steps since it was made, which are left pending: entry (i, j) of the
// precision matrix now is base_ij - sum_s w_si w_sj, and u_i = 1 / sqrt(its diagonal), 0 for what was removed. Only
// the lower triangle of a base is kept; its diagonal is one. Weights are phi = before * K^2 - quiet, at least 0 and at
// most 1.
//
// plan[e] = base, source, gone, line_0, line_1, ...: which base the state has, which state it continues and by which
// slot's removal, and which vector of each pending step is its own.
//
// Everything is summed in an order that does not depend on which block runs first, so equal input gives equal output.

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

// 1 / x without a division: a single-precision guess and two of Newton's steps.
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

// Sums eight values over the lanes of a warp; lane l ends with the sum of value 4 * bit4 + 2 * bit3 + bit2 of l.
__device__ __forceinline__ double sum_eight(double* x) {
    int lane = threadIdx.x & 31;
#pragma unroll
    for (int half = 4, step = 16; half; half >>= 1, step >>= 1) {
        bool upper = lane & step;
#pragma unroll
        for (int r = 0; r < half; r++) {
            double kept = upper ? x[r + half] : x[r], sent = upper ? x[r] : x[r + half];
            x[r] = kept + __shfl_xor_sync(0xffffffffu, sent, step);
        }
    }
    x[0] += __shfl_xor_sync(0xffffffffu, x[0], 2);
    return x[0] + __shfl_xor_sync(0xffffffffu, x[0], 1);
}

// Lists, per state, the slots still there, in ascending order, and takes their variables along. One block per state.
extern "C" __global__ void compact(const double* u, int m, int ld, const int* members, const int* plan, int lines,
                                   int* slots, int* members_after) {
    int e = blockIdx.x;
    const int* before = members + plan[e * (LINES + lines) + BASE] * ld;
    int found = 0;
    for (int start = 0; start < m; start += blockDim.x) {
        int i = start + threadIdx.x, here = i < m && u[e * ld + i] > 0.0, total;
        int at = found + scan_over_block(here, &total);
        if (here) {
            slots[e * ld + at] = i;
            members_after[e * ld + at] = before[i];
        }
        found += total;
    }
}

// Writes the matrix over `slots` with all pending steps applied, and on the way, per variable and tile of others, the
// weight of the pairs between them and one bit for each near one. One block per tile of the lower triangle and state.
// With `fresh` equal to `bases` nothing is written: the matrix is only looked at.
extern "C" __global__ void __launch_bounds__(256) flush(
    const double* bases, int64 ld, const double* pool, int width, int steps, const int* plan, int lines,
    const double* u, const int* slots, int v, double before, double quiet, double near_square, double* fresh,
    double* weights, uint64* bits) {
    extern __shared__ double shared[];
    __shared__ double column_weights[8][TILE];
    __shared__ unsigned char column_bits[TILE][8];
    int e = blockIdx.y, tiles = (v + TILE - 1) / TILE;
    const int* line = plan + e * (LINES + lines);
    int I = (int)((sqrt(8.0 * blockIdx.x + 1.0) - 1.0) * 0.5);
    while ((I + 1) * (I + 2) / 2 <= (int)blockIdx.x) I++;
    while (I * (I + 1) / 2 > (int)blockIdx.x) I--;
    int J = blockIdx.x - I * (I + 1) / 2;
    const double* base = bases + (int64)line[BASE] * ld * ld;
    const int* slot = slots + e * ld;
    double* goal = fresh + (int64)e * ld * ld;
    bool writes = fresh != bases, diagonal = I == J;

    double *w_rows = shared, *w_columns = shared + steps * TILE;
    for (int at = threadIdx.x; at < steps * TILE; at += blockDim.x) {
        int s = at / TILE, x = at % TILE;
        const double* w = pool + ((int64)s * width + line[LINES + s]) * ld;
        w_rows[at] = I * TILE + x < v ? w[slot[I * TILE + x]] : 0.0;
        w_columns[at] = J * TILE + x < v ? w[slot[J * TILE + x]] : 0.0;
    }
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, first = I * TILE + warp * 8;
    int j0 = J * TILE + lane, j1 = j0 + 32;
    int sj0 = j0 < v ? slot[j0] : 0, sj1 = j1 < v ? slot[j1] : 0;
    double uj0 = j0 < v ? u[e * ld + sj0] : 0.0, uj1 = j1 < v ? u[e * ld + sj1] : 0.0;
    double x0[8], x1[8];
#pragma unroll
    for (int r = 0; r < 8; r++) {
        int i = first + r, si = i < v ? slot[i] : 0;
        x0[r] = i < v && j0 < v && i != j0 ? (i > j0 ? base[si * ld + sj0] : base[sj0 * ld + si]) : 0.0;
        x1[r] = i < v && j1 < v && i != j1 ? (i > j1 ? base[si * ld + sj1] : base[sj1 * ld + si]) : 0.0;
    }
    __syncthreads();
    for (int s = 0; s < steps; s++) {
        double c0 = w_columns[s * TILE + lane], c1 = w_columns[s * TILE + lane + 32];
#pragma unroll
        for (int r = 0; r < 8; r++) {
            double f = w_rows[s * TILE + warp * 8 + r];
            x0[r] -= f * c0;
            x1[r] -= f * c1;
        }
    }
    double row_weights[8], sum0 = 0.0, sum1 = 0.0;
    unsigned near0 = 0, near1 = 0;
#pragma unroll
    for (int r = 0; r < 8; r++) {
        int i = first + r;
        double ui = i < v ? u[e * ld + slot[i]] : 0.0;
        double a = fmin(fmax(x0[r] * (ui * uj0), -1.0), 1.0), b = fmin(fmax(x1[r] * (ui * uj1), -1.0), 1.0);
        if (i == j0) a = 0.0;
        if (i == j1) b = 0.0;
        if (writes) {
            if (j0 < i && i < v) goal[i * ld + j0] = a;
            if (j1 < i && i < v) goal[i * ld + j1] = b;
        }
        double weight0 = weigh(a * a, before, quiet), weight1 = weigh(b * b, before, quiet);
        row_weights[r] = weight0 + weight1;
        sum0 += weight0;
        sum1 += weight1;
        bool is0 = a * a > near_square, is1 = b * b > near_square;
        near0 |= (unsigned)is0 << r;
        near1 |= (unsigned)is1 << r;
        uint64 low = __ballot_sync(0xffffffffu, is0), high = __ballot_sync(0xffffffffu, is1);
        if (lane == 0 && i < v) bits[((int64)e * ld + i) * tiles + J] = low | high << 32;
    }
    double whole = sum_eight(row_weights);
    int row = first + ((lane >> 4 & 1) * 4 + (lane >> 3 & 1) * 2 + (lane >> 2 & 1));
    if ((lane & 3) == 0 && row < v) weights[((int64)e * ld + row) * tiles + J] = whole;
    if (diagonal) return;
    column_weights[warp][lane] = sum0;
    column_weights[warp][lane + 32] = sum1;
    column_bits[lane][warp] = near0;
    column_bits[lane + 32][warp] = near1;
    __syncthreads();
    int x = threadIdx.x, j = J * TILE + x;
    if (x < TILE && j < v) {
        double total = 0.0;
        uint64 word = 0;
        for (int part = 0; part < 8; part++) {
            total += column_weights[part][x];
            word |= (uint64)column_bits[x][part] << (8 * part);
        }
        weights[((int64)e * ld + j) * tiles + I] = total;
        bits[((int64)e * ld + j) * tiles + I] = word;
    }
}

// Begins a state afresh from what `flush` left: sums of weights, and neighbours with their partial correlations in
// ascending order. One block per variable and state.
extern "C" __global__ void list_near(const double* bases, int64 ld, int v, const double* weights, const uint64* bits,
                                     double* u, double* paid, uint64* sums, int* counts, int* near, double* values) {
    int i = blockIdx.x, e = blockIdx.y, tiles = (v + TILE - 1) / TILE;
    int64 state = (int64)e * ld + i;
    const double* base = bases + (int64)e * ld * ld;
    double total = 0.0;
    for (int tile = threadIdx.x; tile < tiles; tile += blockDim.x) total += weights[state * tiles + tile];
    total = sum_over_block(total);
    int each = (tiles + blockDim.x - 1) / blockDim.x, start = threadIdx.x * each, stop = min(start + each, tiles);
    int mine = 0, all;
    for (int tile = start; tile < stop; tile++) mine += __popcll(bits[state * tiles + tile]);
    int64 at = state * ld + scan_over_block(mine, &all);
    for (int tile = start; tile < stop; tile++) {
        uint64 word = bits[state * tiles + tile];
        while (word) {
            int j = tile * TILE + __ffsll(word) - 1;
            near[at] = j;
            values[at] = entry(base, ld, i, j);
            at++;
            word &= word - 1;
        }
    }
    if (threadIdx.x == 0) {
        u[state] = 1.0;
        paid[state] = total;
        sums[state] = 0;
        counts[state] = all;
    }
}

// The power of two by which a sum over the pairs of `count` neighbours, none heavier than one, may be multiplied
// without leaving 62 bits.
__device__ __forceinline__ double room(int count) {
    return __longlong_as_double((int64)(1023 + 62 - 2 * (32 - __clz(count))) << 52);
}

// Adds to sums[k], in fixed point, what pairs of neighbours of k weigh less once k is removed. One block per larger
// member i of the pairs, whose row waits in shared memory, `chunk` columns at a time, while the neighbours of its
// neighbours k pass by, sixteen threads for each k.
extern "C" __global__ void __launch_bounds__(1024) gains(
    const double* bases, int64 ld, int v, double before, double after, double quiet, const int* counts,
    const int* near, const double* values, int chunk, uint64* sums) {
    extern __shared__ double row[];
    __shared__ int neighbour[HEADS], length[HEADS];
    __shared__ double own[HEADS];
    int i = v - 1 - blockIdx.x, e = blockIdx.y;
    int lane = threadIdx.x & 15, group = threadIdx.x >> 4, groups = blockDim.x >> 4;
    int64 state = (int64)e * ld;
    const double* source = bases + (state + i) * ld;
    int degree = counts[state + i];
    for (int start = 0; start < i; start += chunk) {
        int stop = min(start + chunk, i);
        for (int head = 0; head < degree; head += HEADS) {
            int heads = min(degree - head, HEADS);
            __syncthreads();
            if (head == 0)
                for (int j = start + threadIdx.x; j < stop; j += blockDim.x) row[j - start] = source[j];
            for (int s = threadIdx.x; s < heads; s += blockDim.x) {
                int k = near[(state + i) * ld + head + s];
                neighbour[s] = k;
                own[s] = values[(state + i) * ld + head + s];
                length[s] = counts[state + k];
            }
            __syncthreads();
            // All threads of a warp stay in step: those without a k of their own add nothing.
            for (int first = 0; first < heads; first += groups) {
                int s = first + group, count = s < heads ? length[s] : 0;
                double total = 0.0;
                if (count) {
                    int64 list = (state + neighbour[s]) * ld;
                    double a_i = own[s], b_i = inverse(fmax(1.0 - a_i * a_i, 1e-12)) * after;
                    for (int t = lane; t < count; t += 32) {
                        bool second = t + 16 < count;
                        int j0 = near[list + t], j1 = second ? near[list + t + 16] : v;
                        double a0 = values[list + t], a1 = second ? values[list + t + 16] : 0.0;
                        if (j0 >= stop) break;
                        if (j0 >= start) {
                            double r = row[j0 - start], y = r - a_i * a0, b = inverse(fmax(1.0 - a0 * a0, 1e-12));
                            total += weigh(r * r, before, quiet) - weigh(y * y, b_i * b, quiet);
                        }
                        if (j1 >= start && j1 < stop) {
                            double r = row[j1 - start], y = r - a_i * a1, b = inverse(fmax(1.0 - a1 * a1, 1e-12));
                            total += weigh(r * r, before, quiet) - weigh(y * y, b_i * b, quiet);
                        }
                    }
                }
                __syncwarp();
                for (int step = 8; step; step >>= 1) total += __shfl_xor_sync(0xffffffffu, total, step);
                if (lane == 0 && total != 0.0)
                    atomicAdd(sums + state + neighbour[s], (uint64)__double2ll_rn(total * room(count)));
            }
        }
    }
}

extern "C" __global__ void settle(int64 ld, int v, const int* counts, const uint64* sums, double* gains) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int64 at = (int64)blockIdx.y * ld + i;
    if (i < v) gains[at] = (double)(int64)sums[at] / room(counts[at]);
}

// Continues state plan[e].source by the removal of slot plan[e].gone: stores its vector in the pool, brings u and the
// sums of weights up to date, and lists what must be scored again.
extern "C" __global__ void remove_slot(
    const double* bases, int64 ld, int m, double* pool, int width, int steps, const int* plan, int lines,
    double before, double quiet, double near_square, const double* u, const double* paid, const double* gains,
    double* u_after, double* paid_after, double* gains_after, int* stale, int* stale_count) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, e = blockIdx.y;
    if (j >= m) return;
    const int* line = plan + e * (LINES + lines);
    int k = line[GONE];
    int64 from = (int64)line[SOURCE] * ld, to = (int64)e * ld;
    const double* base = bases + (int64)line[BASE] * ld * ld;
    double x = 0.0, u_j = u[from + j], gone = 0.0;
    if (j != k) {
        x = entry(base, ld, k, j);
        for (int s = 0; s < steps; s++) {
            const double* w = pool + ((int64)s * width + line[LINES + s]) * ld;
            x -= w[k] * w[j];
        }
    }
    x *= u[from + k];
    pool[((int64)steps * width + e) * ld + j] = x;
    x *= u_j;
    gone = x * x;
    u_after[to + j] = j == k ? 0.0 : u_j / sqrt(fmax(1.0 - gone, 1e-12));
    paid_after[to + j] = paid[from + j] - weigh(gone, before, quiet);
    gains_after[to + j] = gains[from + j];
    if (gone > near_square) stale[to + atomicAdd(stale_count + e, 1)] = j;
}

// What the pending steps take from entry (i, j): the vectors' entries at i wait in `factors`.
__device__ __forceinline__ double pending(const double* factors, const double* pool, int64 stride, const int* line,
                                          int64 ld, int steps, int j) {
    double x = 0.0;
#pragma unroll 4
    for (int s = 0; s < steps; s++) x += factors[s] * pool[s * stride + line[s] * ld + j];
    return x;
}

// Scores the sum of weights of the stale slots anew and lists their neighbours, in any order. Blocks share the list
// of each state.
extern "C" __global__ void __launch_bounds__(1024) rescore_rows(
    const double* bases, int64 ld, int m, const double* pool, int width, int steps, const int* plan, int lines,
    double before, double quiet, double near_square, const double* u, const int* stale, const int* stale_count,
    double* paid, int* counts, int* near, double* values) {
    extern __shared__ double factors[];
    __shared__ int found;
    int e = blockIdx.y;
    const int* line = plan + e * (LINES + lines);
    int64 state = (int64)e * ld;
    const double* base = bases + (int64)line[BASE] * ld * ld;
    for (int at = blockIdx.x; at < stale_count[e]; at += gridDim.x) {
        int i = stale[state + at];
        int64 list = (state + i) * ld;
        double u_i = u[state + i], total = 0.0;
        __syncthreads();
        for (int s = threadIdx.x; s < steps; s += blockDim.x)
            factors[s] = pool[((int64)s * width + line[LINES + s]) * ld + i];
        if (threadIdx.x == 0) found = 0;
        __syncthreads();
#pragma unroll 2
        for (int j = threadIdx.x; j < m; j += blockDim.x) {
            double x = j == i ? 0.0 : entry(base, ld, i, j);
            x -= pending(factors, pool, width * ld, line + LINES, ld, steps, j);
            x = j == i ? 0.0 : fmin(fmax(x * (u_i * u[state + j]), -1.0), 1.0);
            total += weigh(x * x, before, quiet);
            if (x * x > near_square) {
                int place = atomicAdd(&found, 1);
                near[list + place] = j;
                values[list + place] = x;
            }
        }
        total = sum_over_block(total);
        if (threadIdx.x == 0) {
            paid[state + i] = total;
            counts[state + i] = found;
        }
    }
}

// Some neighbours of a candidate in shared memory: slot, partial correlation with the candidate, 1 / (1 - its square),
// u, and what each has of the pending steps.
struct Some {
    double *a, *b, *u, *pending;
    int* slot;
};

__device__ Some some_at(double* place, int chunk, int steps) {
    Some some;
    some.a = place;
    some.b = place + chunk;
    some.u = place + 2 * chunk;
    some.pending = place + 3 * chunk;
    some.slot = (int*)(some.pending + steps * chunk);
    return some;
}

__device__ void bring(Some some, const int* slot, const double* value, int count, int chunk, const double* u,
                      const double* pool, int64 stride, const int* line, int64 ld, int steps) {
    for (int t = threadIdx.x; t < count; t += blockDim.x) {
        double x = value[t];
        int j = slot[t];
        some.a[t] = x;
        some.b[t] = 1.0 / fmax(1.0 - x * x, 1e-12);
        some.u[t] = u[j];
        some.slot[t] = j;
    }
    for (int at = threadIdx.x; at < steps * count; at += blockDim.x) {
        int s = at / count, t = at % count;
        some.pending[s * chunk + t] = pool[s * stride + line[s] * ld + slot[t]];
    }
}

// The gains of the stale slots, from entries formed on the fly, `chunk` neighbours by as many at a time. Sums are in
// fixed point, since neighbours come in any order.
extern "C" __global__ void __launch_bounds__(512) rescore_gains(
    const double* bases, int64 ld, const double* pool, int width, int steps, const int* plan, int lines,
    double before, double after, double quiet, const double* u, const int* stale, const int* stale_count,
    const int* counts, const int* near, const double* values, int chunk, double* gains) {
    extern __shared__ double shared[];
    __shared__ uint64 sum;
    int e = blockIdx.y;
    const int* line = plan + e * (LINES + lines);
    int64 state = (int64)e * ld;
    const double* base = bases + (int64)line[BASE] * ld * ld;
    Some rows = some_at(shared, chunk, steps), columns = some_at(shared + (4 + steps) * chunk, chunk, steps);
    for (int at = blockIdx.x; at < stale_count[e]; at += gridDim.x) {
        int k = stale[state + at], count = counts[state + k];
        const int* slot = near + (state + k) * ld;
        const double* value = values + (state + k) * ld;
        double scale = room(count);
        int64 mine = 0;
        if (threadIdx.x == 0) sum = 0;
        for (int top = 0; top < count; top += chunk)
            for (int left = 0; left <= top; left += chunk) {
                bool triangle = left == top;
                int height = min(chunk, count - top), breadth = min(chunk, count - left);
                Some across = triangle ? rows : columns;
                __syncthreads();
                if (left == 0)
                    bring(rows, slot + top, value + top, height, chunk, u + state, pool, width * ld, line + LINES, ld,
                          steps);
                if (!triangle)
                    bring(columns, slot + left, value + left, breadth, chunk, u + state, pool, width * ld,
                          line + LINES, ld, steps);
                __syncthreads();
                int pairs = triangle ? height * (height - 1) / 2 : height * breadth;
                for (int first = threadIdx.x; first < pairs; first += 4 * blockDim.x) {
                    int r[4], t[4];
                    double x[4];
#pragma unroll
                    for (int q = 0; q < 4; q++) {
                        int pair = min(first + q * (int)blockDim.x, pairs - 1);
                        if (triangle) {
                            r[q] = (int)((1.0f + sqrtf(1.0f + 8.0f * pair)) * 0.5f);
                            while (r[q] * (r[q] - 1) / 2 > pair) r[q]--;
                            while (r[q] * (r[q] + 1) / 2 <= pair) r[q]++;
                            t[q] = pair - r[q] * (r[q] - 1) / 2;
                        } else {
                            r[q] = pair / breadth;
                            t[q] = pair % breadth;
                        }
                        x[q] = entry(base, ld, rows.slot[r[q]], across.slot[t[q]]);
                    }
                    for (int s = 0; s < steps; s++)
#pragma unroll
                        for (int q = 0; q < 4; q++)
                            x[q] -= rows.pending[s * chunk + r[q]] * across.pending[s * chunk + t[q]];
#pragma unroll
                    for (int q = 0; q < 4; q++) {
                        if (first + q * (int)blockDim.x >= pairs) break;
                        double z = x[q] * (rows.u[r[q]] * across.u[t[q]]), y = z - rows.a[r[q]] * across.a[t[q]];
                        double lighter = weigh(z * z, before, quiet) -
                                         weigh(y * y, after * rows.b[r[q]] * across.b[t[q]], quiet);
                        mine += __double2ll_rn(lighter * scale);
                    }
                }
            }
        for (int step = 16; step; step >>= 1) mine += __shfl_xor_sync(0xffffffffu, mine, step);
        if ((threadIdx.x & 31) == 0) atomicAdd(&sum, (uint64)mine);
        __syncthreads();
        if (threadIdx.x == 0) gains[state + k] = (double)(int64)sum / scale;
    }
}

// The greedy choice, made on the device: the slot of least paid + D + mu * (what would then lie ahead), the first of
// equals, goes into the plan and the order. Values are compared as the beam search compares them. One block.
extern "C" __global__ void __launch_bounds__(1024) choose(
    const double* u, int m, const double* paid, const double* gains, double mu, double sharpness, const int* members,
    double* spent, int* plan, int* removed, int step) {
    __shared__ double least[32];
    __shared__ int slot[32];
    double total = 0.0;
    for (int i = threadIdx.x; i < m; i += blockDim.x)
        if (u[i] > 0.0) total += paid[i];
    double half = sum_over_block(total) / 2.0, so_far = *spent, best = 1e300;
    int at = m;
    for (int i = threadIdx.x; i < m; i += blockDim.x) {
        if (!(u[i] > 0.0)) continue;
        double value = floor((so_far + paid[i] + mu * (half - paid[i] - gains[i])) * sharpness + 0.5);
        if (value < best) {
            best = value;
            at = i;
        }
    }
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    for (int round = 0; round < 2; round++) {
        for (int step = 16; step; step >>= 1) {
            double other = __shfl_xor_sync(0xffffffffu, best, step);
            int place = __shfl_xor_sync(0xffffffffu, at, step);
            if (other < best || (other == best && place < at)) {
                best = other;
                at = place;
            }
        }
        if (round == 0) {
            if (lane == 0) {
                least[warp] = best;
                slot[warp] = at;
            }
            __syncthreads();
            best = lane < (blockDim.x >> 5) ? least[lane] : 1e300;
            at = lane < (blockDim.x >> 5) ? slot[lane] : m;
        }
    }
    if (threadIdx.x == 0) {
        plan[GONE] = at;
        removed[step] = members[at];
        *spent = so_far + paid[at];
    }
}
