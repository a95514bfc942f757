// The soft cost on a GPU: which continuations a beam follows. Compiled after soft.cu.
//
// The removal of slot i from state e is entry e * ld + i of `values`, rounded as in the search on the CPU, and NEVER
// where there is nothing to remove; entry e * ld + i of `keys` tells the set that is removed then.

#define NEVER 1e300
#define NOWHERE 0x7fffffffffffffffLL

// Parts of rows of which the smallest value is known: one for each warp of a block, or each state.
#define MOST_PARTS (MOST_CHOSEN > 32 ? MOST_CHOSEN : 32)

// Offers all continuations of each state. One block per state. With `waiting`, a variable that others must follow, which
// are still there, cannot be removed.
extern "C" __global__ void __launch_bounds__(1024) offer(
    const double* u, int64 ld, int m, const double* paid, const double* gains, double mu, double sharpness,
    const int* members, const int* plan, int lines, int fresh, const uint64* variable_keys, const int* waiting, int p,
    const double* spent, const uint64* key, double* values, uint64* keys) {
    int e = blockIdx.x;
    int64 state = (int64)e * ld;
    const int* member = members + (int64)(fresh ? e : plan[(int64)e * (LINES + lines) + BASE]) * ld;
    double total = 0.0;
    for (int i = threadIdx.x; i < m; i += blockDim.x)
        if (u[state + i] > 0.0) total += paid[state + i];
    double half = sum_over_block(total) / 2.0;
    for (int i = threadIdx.x; i < m; i += blockDim.x) {
        bool here = u[state + i] > 0.0;
        int variable = here ? member[i] : 0;
        if (here && waiting) here = waiting[(int64)e * p + variable] == 0;
        double value = spent[e] + paid[state + i] + mu * (half - paid[state + i] - gains[state + i]);
        values[state + i] = here ? floor(value * sharpness + 0.5) : NEVER;
        keys[state + i] = key[e] ^ variable_keys[variable];
    }
}

// The smallest value of a warp, and its place; the first one in case of ties. All lanes learn them.
__device__ void least_of_warp(double* value, int64* place) {
    for (int step = 16; step; step >>= 1) {
        double other = __shfl_xor_sync(0xffffffffu, *value, step);
        int64 at = __shfl_xor_sync(0xffffffffu, *place, step);
        if (other < *value || (other == *value && at < *place)) {
            *value = other;
            *place = at;
        }
    }
}

// Stores the smallest value of a part of a row, and its place. One warp.
__device__ void find_head(const double* values, int64 first, int64 end, double* head, int64* where) {
    int lane = threadIdx.x & 31;
    double best = NEVER;
    int64 at = NOWHERE;
    for (int64 i = first + lane; i < end; i += 32) {
        double value = values[i];
        if (value < best) {
            best = value;
            at = i;
        }
    }
    least_of_warp(&best, &at);
    if (lane == 0) {
        *head = best;
        *where = at;
    }
}

// Chooses the continuations of a narrow beam: the `width` smallest values with different keys, one after the other, the
// first one in case of ties. Of those with equal keys and values no larger than the last, the one with the smallest cost
// so far is followed. Where there are fewer, the last one is repeated; their number is stored. One block, up to MOST_CHOSEN
// states; chosen values are replaced by NEVER. Each row is in parts, and the smallest value left in each part is known.
extern "C" __global__ void __launch_bounds__(1024) choose_few(
    double* values, const uint64* keys, int64 ld, int m, int count, int width, const double* spent,
    const double* paid, double sharpness, int* sources, int* slots, int* found) {
    __shared__ uint64 taken[MOST_CHOSEN];
    __shared__ double cost[MOST_CHOSEN], heads[MOST_PARTS];
    // The cheaper entry that took the place of the first one chosen; -1 if there is none.
    __shared__ int64 where[MOST_PARTS], instead[MOST_CHOSEN];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    double margin = 1.0 / sharpness;
    int parts = max(1, warps / count), length = (m + parts - 1) / parts;
    for (int h = warp; h < count * parts; h += warps) {
        int64 row = (h / parts) * ld;
        int first = (h % parts) * length;
        find_head(values, row + first, row + min(first + length, m), heads + h, where + h);
    }
    __syncthreads();
    int chosen = 0;
    double last = NEVER;
    while (true) {
        double best = NEVER;
        int64 at = NOWHERE;
        for (int h = lane; h < count * parts; h += 32)
            if (heads[h] < best || (heads[h] == best && where[h] < at)) {
                best = heads[h];
                at = where[h];
            }
        least_of_warp(&best, &at);
        // Continuations of a single state have different keys.
        if (!(best < NEVER) || (chosen == width && (count == 1 || best > last))) break;
        int e = (int)(at / ld), i = (int)(at - e * ld), part = i / length;
        uint64 key = keys[at];
        double now = spent[e] + paid[at];
        int same = chosen;
        for (int first = 0; first < chosen; first += 32) {
            unsigned equal = __ballot_sync(0xffffffffu, first + lane < chosen && taken[first + lane] == key);
            if (equal) same = first + __ffs(equal) - 1;
        }
        // Entries come in the order of their values, and the search on the CPU looks at them one after the other.
        bool fresh = same == chosen && chosen < width;
        bool cheaper = same < chosen && (now + margin < cost[same] || (at < instead[same] && now <= cost[same] + margin));
        __syncthreads();
        if (threadIdx.x == 0 && (fresh || cheaper)) {
            taken[same] = key;
            cost[same] = now;
            instead[same] = fresh ? -1 : at;
            sources[same] = e;
            slots[same] = i;
        }
        if (warp == (e * parts + part) % warps) {
            if (lane == 0) values[at] = NEVER;
            __syncwarp();
            int64 row = e * ld;
            int first = part * length;
            find_head(values, row + first, row + min(first + length, m), heads + e * parts + part, where + e * parts + part);
        }
        if (fresh) {
            chosen++;
            last = best;
        }
        __syncthreads();
    }
    for (int rest = chosen + threadIdx.x; rest < width; rest += blockDim.x) {
        sources[rest] = chosen ? sources[chosen - 1] : 0;
        slots[rest] = chosen ? slots[chosen - 1] : 0;
    }
    if (threadIdx.x == 0) *found = chosen;
}

// Writes the plan of the states that follow, what they have cost and removed, and where each came from. `fresh` tells
// that no steps are pending: each state is its own base then.
extern "C" __global__ void follow_chosen(
    int64 ld, const double* paid, const int* members, const int* plan, int lines, int steps, int fresh,
    const uint64* variable_keys, const int* sources, const int* slots, int count, const double* spent,
    const uint64* key, int* plan_after, double* spent_after, uint64* key_after, int* came_from, int* removed) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= count) return;
    int source = sources[e], slot = slots[e];
    const int* line = plan + (int64)source * (LINES + lines);
    int* next = plan_after + (int64)e * (LINES + lines);
    int base = fresh ? source : line[BASE], variable = members[(int64)base * ld + slot];
    next[BASE] = base;
    next[SOURCE] = source;
    next[GONE] = slot;
    for (int s = 0; s < steps; s++) next[LINES + s] = line[LINES + s];
    next[LINES + steps] = e;
    spent_after[e] = spent[source] + paid[(int64)source * ld + slot];
    key_after[e] = key[source] ^ variable_keys[variable];
    came_from[e] = source;
    removed[e] = variable;
}
