// Gathers the entries of a matrix along many lists: the loops of kernels/gathering.py, a block for each list.

typedef long long int64;

// The list of block b has length[b] members, from first[b] on; its matrix is stored from place[b] on, row after row.
extern "C" __global__ void gather(const double* matrix, int64 ld, const int64* members, const int64* first,
                                  const int64* length, const int64* place, double* entries) {
    const int64* listed = members + first[blockIdx.x];
    int k = (int)length[blockIdx.x];
    double* target = entries + place[blockIdx.x];
    for (int s = 0; s < k; s++) {
        const double* row = matrix + listed[s] * ld;
        for (int t = threadIdx.x; t < k; t += blockDim.x) target[(int64)s * k + t] = row[listed[t]];
    }
}
