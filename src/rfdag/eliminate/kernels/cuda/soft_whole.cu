// The soft cost on a GPU: all pending steps applied, and everything scored. Compiled after soft.cu.

// Lists, per state, the remaining slots in ascending order, with their variables. One block per state.
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

// Writes the matrix over `slots` with all pending steps applied, and, per variable and tile of others, the weight of
// the pairs between them and one bit per neighbour. One block per tile of the lower triangle and state. With `fresh`
// equal to `bases` the matrix is only read.
extern "C" __global__ void __launch_bounds__(256) flush(
    const double* bases, int64 ld, const double* pool, int width, int steps, const int* plan, int lines,
    const double* u, const int* slots, int v, double before, double quiet, double near_square, double* fresh,
    double* weights, uint64* bits) {
    extern __shared__ double shared[];
    __shared__ double column_weights[8][TILE], row_u[TILE];
    __shared__ unsigned char column_bits[TILE][8];
    __shared__ int row_slot[TILE];
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
    if (threadIdx.x < TILE) {
        int i = I * TILE + threadIdx.x;
        row_slot[threadIdx.x] = i < v ? slot[i] : 0;
        row_u[threadIdx.x] = i < v ? u[e * ld + slot[i]] : 0.0;
    }
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int j0 = J * TILE + lane, j1 = j0 + 32;
    int sj0 = j0 < v ? slot[j0] : 0, sj1 = j1 < v ? slot[j1] : 0;
    double uj0 = j0 < v ? u[e * ld + sj0] : 0.0, uj1 = j1 < v ? u[e * ld + sj1] : 0.0;
    double sum0 = 0.0, sum1 = 0.0;
    unsigned near0 = 0, near1 = 0;
    __syncthreads();
    // Four rows of two columns for each thread, twice: few enough for many blocks to run at the same time.
#pragma unroll 1
    for (int pass = 0; pass < 8; pass += 4) {
        int place = warp * 8 + pass, first = I * TILE + place;
        double x0[4], x1[4], row_weights[4];
        if (diagonal) {
#pragma unroll
            for (int r = 0; r < 4; r++) {
                int i = first + r, si = row_slot[place + r];
                x0[r] = i < v && j0 < v && i != j0 ? base[max(si, sj0) * ld + min(si, sj0)] : 0.0;
                x1[r] = i < v && j1 < v && i != j1 ? base[max(si, sj1) * ld + min(si, sj1)] : 0.0;
            }
        } else {
#pragma unroll
            for (int r = 0; r < 4; r++) {
                const double* row = base + row_slot[place + r] * ld;
                x0[r] = first + r < v ? row[sj0] : 0.0;
                x1[r] = first + r < v ? row[sj1] : 0.0;
            }
        }
        for (int s = 0; s < steps; s++) {
            double c0 = w_columns[s * TILE + lane], c1 = w_columns[s * TILE + lane + 32];
#pragma unroll
            for (int r = 0; r < 4; r++) {
                double f = w_rows[s * TILE + place + r];
                x0[r] -= f * c0;
                x1[r] -= f * c1;
            }
        }
#pragma unroll
        for (int r = 0; r < 4; r++) {
            int i = first + r;
            double ui = row_u[place + r];
            double a = fmin(fmax(x0[r] * (ui * uj0), -1.0), 1.0), b = fmin(fmax(x1[r] * (ui * uj1), -1.0), 1.0);
            if (i == j0) a = 0.0;
            if (i == j1) b = 0.0;
            if (writes && i < v) {
                double* row = goal + i * ld;
                if (j0 < i) row[j0] = a;
                if (j1 < i) row[j1] = b;
            }
            double weight0 = weigh(a * a, before, quiet), weight1 = weigh(b * b, before, quiet);
            row_weights[r] = weight0 + weight1;
            sum0 += weight0;
            sum1 += weight1;
            bool is0 = a * a > near_square, is1 = b * b > near_square;
            near0 |= (unsigned)is0 << (pass + r);
            near1 |= (unsigned)is1 << (pass + r);
            uint64 low = __ballot_sync(0xffffffffu, is0), high = __ballot_sync(0xffffffffu, is1);
            if (lane == 0 && i < v) bits[((int64)e * ld + i) * tiles + J] = low | high << 32;
        }
        double whole = sum_four(row_weights);
        int row = first + (lane >> 4 & 1) * 2 + (lane >> 3 & 1);
        if ((lane & 7) == 0 && row < v) weights[((int64)e * ld + row) * tiles + J] = whole;
    }
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

// Initialises a state from the output of `flush`: sums of weights, and neighbours with their partial correlations in
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

// Adds to sums[k], in fixed point, the weight that pairs of neighbours of k lose once k is removed. One block per
// larger member i of the pairs, whose row is held in shared memory, `chunk` columns at a time, for the neighbours of
// each of its neighbours k, with sixteen threads per k.
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
            // All threads of a warp stay in step: those without a k add nothing.
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
