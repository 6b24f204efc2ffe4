.kernel "trial"
.target "trn2"
.flags
.constant 0
  .hex 0000b84000007040000030400000d0c00000e0400000f040
.tensor %0 t0 hbm 1x6xf32 constant 0
.tensor %1 t1 sbuf 1x6xf32 at 0,0
.tensor %2 t2 hbm 1x6xf32 output 0
.stream vector
  bn_stats dst=t1[0+1, 0: 1x6] data=t1[0+1, 0: 1x6] #1
.stream sync
  dma_copy dst=t1[0+1, 0: 1x6] src=t0[1 rows of 6, 0: 1x6] #0
  dma_copy dst=t2[1 rows of 6, 0: 1x6] src=t1[0+1, 0: 1x6] #2
