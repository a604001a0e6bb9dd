// The residual blocks of a network as one kernel for Hopper GPUs (sm_90a): boards stay in shared memory from the first
// convolution to the last, and the matrix units read the nine shifted images of a board from the same copy of it.
//
// Compiled by tower.py for one network and board size, with these numbers:
//   CHANNELS       width of the blocks, a multiple of 16, at most 64
//   ROWS, COLUMNS  of a board
//   BOARDS         boards of one group of four warps, side by side
//   PLACES         places of these boards, with their padding, a multiple of 16, at most 256
//   BLOCKS         residual blocks; bit i of POOLED is set if block i sees the whole board
//   STAGES         slots of the ring through which weights come
//
// Layout in shared memory, for one group of warps: [CHANNELS / 8][LINES][8] in bfloat16. A line is a place with eight of
// its channels, 16 bytes. Place (row, board, column) has the number row * STRIDE + board * (COLUMNS + 1) + column. Behind
// each row of a board there is a place that is always 0, and GUARD lines of 0 lie before the first and after the last
// row, so that a neighbour of a place is always a fixed number of lines away.
//
// The grid is as large as the GPU: a block of threads takes boards until none are left. Its two groups share the weights,
// and one begins later than the other, so that one multiplies while the other writes its results or loads boards.
//
// A convolution is a product of matrices for each of the nine neighbours: weights [64 outputs, CHANNELS] times lines
// [CHANNELS, PLACES], added up in registers. A warp of a group holds 16 outputs of all places.

typedef unsigned int u32;
typedef unsigned long long u64;

constexpr int CHUNKS = CHANNELS / 8;
constexpr int CELLS = ROWS * COLUMNS;
constexpr int STRIDE = BOARDS * (COLUMNS + 1);
constexpr int USED = ROWS * STRIDE;
constexpr int GUARD = STRIDE + 1;
constexpr int LINES = ((PLACES + 2 * GUARD + 6) / 8) * 8 + 1;  // 1 modulo 8: the chunks of a place lie in different banks
constexpr int GROUPS = 2;
constexpr int GROUP = 128;
constexpr int LOADER = GROUPS * GROUP;  // the first thread of the group that loads weights
constexpr int OUTPUTS = 64;
constexpr int TAP_BYTES = CHANNELS * OUTPUTS * 2;
constexpr int BOARD_BYTES = CHUNKS * LINES * 16;
constexpr int NUMBERS = PLACES / 2;  // sums that a thread holds

constexpr int BOARDS_AT = STAGES * TAP_BYTES;
constexpr int POOL_AT = BOARDS_AT + GROUPS * 2 * BOARD_BYTES;
constexpr int BARRIERS_AT = POOL_AT + GROUPS * BOARDS * 2 * CHANNELS * 4;

__device__ __forceinline__ void barrier_init(u32 barrier, u32 count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}

__device__ __forceinline__ void barrier_arrive(u32 barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

__device__ __forceinline__ void barrier_wait(u32 barrier, u32 parity) {
  asm volatile(
      "{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra DONE;\nbra AGAIN;\nDONE:\n}"
      ::"r"(barrier), "r"(parity) : "memory");
}

// Copies weights of one tap into a slot of the ring; the barrier completes when they are there.
__device__ __forceinline__ void load_tap(u32 slot, const char* from, u32 barrier) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(TAP_BYTES) : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               ::"r"(slot), "l"(from), "r"(TAP_BYTES), "r"(barrier) : "memory");
}

// A matrix in shared memory as the matrix units take it: cores of 8 x 16 bytes, `across` bytes from a core to the next
// eight channels, 128 bytes to the next eight rows.
__device__ __forceinline__ u64 matrix(u32 address, u32 across) {
  return (u64)((address & 0x3FFFF) >> 4) | (u64)(across >> 4) << 16 | (u64)(128 >> 4) << 32;
}

__device__ __forceinline__ void multiply(float (&sums)[NUMBERS], u64 weights, u64 lines, int add) {
  @MULTIPLY@
}

__device__ __forceinline__ void wait_for_group(int group) {
  asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory");
}

// What ordinary instructions have written becomes visible to the matrix units, for all warps of a group.
__device__ __forceinline__ void publish(int group) {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  wait_for_group(group);
}

__device__ __forceinline__ u32 pack(float low, float high) {
  u32 both;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}

__device__ __forceinline__ float low(u32 both) { return __uint_as_float(both << 16); }
__device__ __forceinline__ float high(u32 both) { return __uint_as_float(both & 0xFFFF0000u); }

struct Ring {
  u32 slots, full, empty;
  int slot, parity;
};

// sums = the convolution of the boards at `lines`, without its bias.
__device__ __forceinline__ void convolve(float (&sums)[NUMBERS], u32 lines, Ring& ring, int lane) {
  int before = -1;
#pragma unroll 1
  for (int tap = 0; tap < 9; tap++) {
    barrier_wait(ring.full + 8 * ring.slot, ring.parity);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    int shift = (tap / 3 - 1) * STRIDE + tap % 3 - 1;
    u64 weights = matrix(ring.slots + ring.slot * TAP_BYTES, OUTPUTS * 16);
    u64 board = matrix(lines + (GUARD + shift) * 16, LINES * 16);
#pragma unroll
    for (int part = 0; part < CHUNKS / 2; part++)
      multiply(sums, weights + part * (2 * OUTPUTS), board + part * (2 * LINES), tap > 0 || part > 0);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    if (before >= 0) {
      asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
      if (lane == 0) barrier_arrive(ring.empty + 8 * before);
    }
    before = ring.slot;
    if (++ring.slot == STAGES) ring.slot = 0, ring.parity ^= 1;
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  if (lane == 0) barrier_arrive(ring.empty + 8 * before);
}

// to = sums + bias [+ to], rectified if asked for, and 0 in the padding.
template <bool ADD>
__device__ __forceinline__ void finish(float (&sums)[NUMBERS], u32 to, const float* bias, bool rectify, u64 shown,
                                       int warp, int lane) {
  if (warp * 16 >= CHANNELS) return;
  float mine = bias[warp * 16 + lane / 4], other = bias[warp * 16 + 8 + lane / 4];
  float least = rectify ? 0.0f : -3.0e38f;
  // Matrices 0 and 1 of a quartet are the two chunks of eight places, 2 and 3 those of the next eight.
  u32 at = to + ((2 * warp + (lane >> 3 & 1)) * LINES + GUARD + (lane >> 4) * 8 + (lane & 7)) * 16;
#pragma unroll
  for (int pair = 0; pair < PLACES / 16; pair++) {
    u32 old[4], made[4];
    if (ADD)
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(old[0]), "=r"(old[1]), "=r"(old[2]), "=r"(old[3]) : "r"(at + pair * 256) : "memory");
#pragma unroll
    for (int i = 0; i < 4; i++) {
      float offset = i & 1 ? other : mine;
      float first = sums[8 * pair + 2 * i] + offset, second = sums[8 * pair + 2 * i + 1] + offset;
      if (ADD) first += low(old[i]), second += high(old[i]);
      int bit = 2 * (2 * pair + i / 2);
      first = shown >> bit & 1 ? fmaxf(first, least) : 0.0f;
      second = shown >> (bit + 1) & 1 ? fmaxf(second, least) : 0.0f;
      made[i] = pack(first, second);
    }
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};"
                 ::"r"(at + pair * 256), "r"(made[0]), "r"(made[1]), "r"(made[2]), "r"(made[3]) : "memory");
  }
}

// y at `lines` becomes relu(y + weight @ [mean, maximum] of relu(y) + offset), board by board. A warp takes every fourth
// board, a thread two channels. weight [2 * CHANNELS, CHANNELS] in bfloat16.
__device__ __forceinline__ void pool(char* lines, float* pooled, const u32* weight, const float* offset, int warp,
                                     int lane) {
  for (int board = warp; board < BOARDS; board += 4) {
    float* seen = pooled + board * 2 * CHANNELS;
    char* place = lines + ((lane / 4) * LINES + GUARD + board * (COLUMNS + 1)) * 16 + (lane & 3) * 4;
    if (lane < CHANNELS / 2) {
      float total[2] = {0.0f, 0.0f}, most[2] = {0.0f, 0.0f};
      for (int row = 0; row < ROWS; row++)
#pragma unroll
        for (int column = 0; column < COLUMNS; column++) {
          u32 both = *(u32*)(place + (row * STRIDE + column) * 16);
          float one = fmaxf(low(both), 0.0f), two = fmaxf(high(both), 0.0f);
          total[0] += one, total[1] += two;
          most[0] = fmaxf(most[0], one), most[1] = fmaxf(most[1], two);
        }
      seen[2 * lane] = total[0] / CELLS, seen[2 * lane + 1] = total[1] / CELLS;
      seen[CHANNELS + 2 * lane] = most[0], seen[CHANNELS + 2 * lane + 1] = most[1];
    }
    __syncwarp();
    if (lane < CHANNELS / 2) {
      float first = offset[2 * lane], second = offset[2 * lane + 1];
#pragma unroll 8
      for (int i = 0; i < 2 * CHANNELS; i++) {
        u32 both = __ldg(weight + i * (CHANNELS / 2) + lane);
        first += seen[i] * low(both), second += seen[i] * high(both);
      }
      for (int row = 0; row < ROWS; row++)
#pragma unroll
        for (int column = 0; column < COLUMNS; column++) {
          u32* there = (u32*)(place + (row * STRIDE + column) * 16);
          *there = pack(fmaxf(low(*there) + first, 0.0f), fmaxf(high(*there) + second, 0.0f));
        }
    }
  }
}

// The line of the i-th eight numbers of the boards of a group, which lie in memory as [boards, CELLS, CHANNELS].
__device__ __forceinline__ int line_of(int i) {
  int chunk = i % CHUNKS, cell = i / CHUNKS % CELLS, board = i / (CHUNKS * CELLS);
  return chunk * LINES + GUARD + cell / COLUMNS * STRIDE + board * (COLUMNS + 1) + cell % COLUMNS;
}

// x and out bfloat16 [count, CELLS, CHANNELS]; weights bfloat16 [2 * BLOCKS, 9, CHUNKS, 64, 8]; bias [2 * BLOCKS, 64];
// pool_weight bfloat16 [pooled blocks, 2 * CHANNELS, CHANNELS]; pool_offset [pooled blocks, CHANNELS].
extern "C" __global__ void __launch_bounds__((GROUPS + 1) * GROUP, 1)
tower(const uint4* x, uint4* out, const char* weights, const float* bias, const u32* pool_weight,
      const float* pool_offset, int count) {
  extern __shared__ __align__(128) char memory[];
  u32 base = (u32)__cvta_generic_to_shared(memory);
  u32 full = base + BARRIERS_AT, empty = full + 8 * STAGES;
  int turns = (count + GROUPS * BOARDS - 1) / (GROUPS * BOARDS);
  int group = threadIdx.x / GROUP, thread = threadIdx.x % GROUP, lane = thread % 32, warp = thread / 32;
  if (threadIdx.x == 0) {
    for (int slot = 0; slot < STAGES; slot++) {
      barrier_init(full + 8 * slot, 1);
      barrier_init(empty + 8 * slot, GROUPS * 4);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x >= LOADER) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == LOADER) {
      int slot = 0, parity = 1;  // a slot that was never used counts as empty
      for (int turn = blockIdx.x; turn < turns; turn += gridDim.x)
        for (int tap = 0; tap < 2 * BLOCKS * 9; tap++) {
          barrier_wait(empty + 8 * slot, parity);
          load_tap(base + slot * TAP_BYTES, weights + (u64)tap * TAP_BYTES, full + 8 * slot);
          if (++slot == STAGES) slot = 0, parity ^= 1;
        }
    }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  char* kept = memory + BOARDS_AT + group * 2 * BOARD_BYTES;  // the sum of the blocks so far
  char* inner = kept + BOARD_BYTES;                           // between the two convolutions of a block
  u32 kept_at = base + BOARDS_AT + group * 2 * BOARD_BYTES, inner_at = kept_at + BOARD_BYTES;
  float* pooled = (float*)(memory + POOL_AT) + group * BOARDS * 2 * CHANNELS;
  if (group == 1) asm volatile("bar.sync 3, 256;" ::: "memory");
  for (int i = thread; i < 2 * CHUNKS * LINES; i += GROUP) ((uint4*)kept)[i] = make_uint4(0, 0, 0, 0);
  wait_for_group(group);
  u64 shown = 0;  // two bits for each eight places: whether this thread's two of them are cells
  for (int i = 0; i < PLACES / 8; i++)
    for (int j = 0; j < 2; j++) {
      int place = 8 * i + 2 * (lane & 3) + j;
      if (place < USED && place % (COLUMNS + 1) != COLUMNS) shown |= 1ull << (2 * i + j);
    }
  Ring ring = {base, full, empty, 0, 0};
  float sums[NUMBERS];
#pragma unroll 1
  for (int turn = blockIdx.x; turn < turns; turn += gridDim.x) {
    int first = (turn * GROUPS + group) * BOARDS;
    int last = min(BOARDS, count - first) * CELLS * CHUNKS;
    for (int i = thread; i < last; i += GROUP) ((uint4*)kept)[line_of(i)] = x[(u64)first * CELLS * CHUNKS + i];
    publish(group);
    if (group == 0 && turn == blockIdx.x) asm volatile("bar.arrive 3, 256;" ::: "memory");
    const u32* weight = pool_weight;
    const float* offset = pool_offset;
#pragma unroll 1
    for (int block = 0; block < BLOCKS; block++) {
      bool pooling = POOLED >> block & 1;
      convolve(sums, kept_at, ring, lane);
      finish<false>(sums, inner_at, bias + 2 * block * OUTPUTS, !pooling, shown, warp, lane);
      if (pooling) {
        wait_for_group(group);
        pool(inner, pooled, weight, offset, warp, lane);
        weight += CHANNELS * CHANNELS, offset += CHANNELS;
      }
      publish(group);
      convolve(sums, inner_at, ring, lane);
      finish<true>(sums, kept_at, bias + (2 * block + 1) * OUTPUTS, true, shown, warp, lane);
      publish(group);
    }
    for (int i = thread; i < last; i += GROUP) out[(u64)first * CELLS * CHUNKS + i] = ((uint4*)kept)[line_of(i)];
  }
}
