.kernel "trial"
.target "trn2"
.flags
.constant 0
  .hex 0000803f0000004000000000000080bf0000a04000000000
.tensor %0 t0 hbm 1x6xf32 constant 0
.tensor %1 t1 sbuf 1x6xf32 at 0,0
.tensor %2 t2 hbm 1x2xf32 output 0
.tensor %3 t3 sbuf 1x2xf32 at 0,64
.stream vector
  bn_aggr dst=t3[0+1, 0: 1x2] data=t1[0+1, 0: 1x6] #1
.stream sync
  dma_copy dst=t1[0+1, 0: 1x6] src=t0[1 rows of 6, 0: 1x6] #0
  dma_copy dst=t2[1 rows of 2, 0: 1x2] src=t3[0+1, 0: 1x2] #2
