// The soft cost on a GPU: one step, and scoring what it changed. Compiled after soft.cu.

// Continues state plan[e].source by the removal of slot plan[e].gone: stores its vector in the pool, updates u and the
// sums of weights, and lists what must be scored again.
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

// The amount that the pending steps subtract from entry (i, j); `factors` holds the vectors' entries at i.
__device__ __forceinline__ double pending(const double* factors, const double* pool, int64 stride, const int* line,
                                          int64 ld, int steps, int j) {
    double x = 0.0;
#pragma unroll 4
    for (int s = 0; s < steps; s++) x += factors[s] * pool[s * stride + line[s] * ld + j];
    return x;
}

// Computes the sum of weights of the stale slots again and lists their neighbours, in any order. Blocks share the list
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
// u, and the entries of the pending vectors.
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

// The gains of the stale slots, from entries computed on the fly, `chunk` by `chunk` neighbours at a time. Sums are in
// fixed point, since neighbours are in any order.
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
        __syncthreads();
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
