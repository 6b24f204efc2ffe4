//===- Views.td - rules about views and indices -----------------------------------------------===//

#ifndef KILN_TABLE_RULES_VIEWS_TD
#define KILN_TABLE_RULES_VIEWS_TD

include "Base.td"

def : RuleText<"V-01", "An index lies inside its dim",
  "there is nothing to access outside the tensor",
  "use an index below the extent"> {
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 1}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      nl::store(y, t(_, 64)); // columns are 0 to 63
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 1}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      nl::store(y, t(_, -1)); // the last one
      return y;
    }
  }];
}

def : RuleText<"V-02", "A slice is not empty and steps forward",
  "an access has at least one element",
  "write start < end and step >= 1"> {
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 8}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      nl::store(y, t(_, nl::slice(8, 8))); // start and stop, not start and size
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 8}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      nl::store(y, t(_, ds(8, 8))); // start and size
      return y;
    }
  }];
}

def : RuleText<"V-03", "There are at most as many indices as dims",
  "each index addresses one dim",
  "drop the extra index"> {
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 8}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      nl::store(y, t(_, 0, ds(0, 8))); // t has two dims
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 8}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x).reshape({128, 8, 8});
      nl::store(y, t(_, 0, ds(0, 8)));
      return y;
    }
  }];
}

def : RuleText<"V-04", "A reshape keeps the elements and the partitions",
  "a view regroups free dims only",
  "keep the element count, and dim 0 on chip"> {
  let arguments = "rand:128x24:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 24}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x).reshape({128, 32}); // 24 elements become 32
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 24}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x).reshape({128, 4, 6});
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"V-05", "Merged dims are adjacent in memory",
  "a view moves nothing",
  "copy to a fresh tile first"> {
  let arguments = "rand:128x4x8:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 32}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x).permute({0, 2, 1}); // 8x4, in another order
      nl::store(y, t.reshape({128, 32}));        // would have to move elements
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 32}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x), swapped = nl::ndarray({128, 8, 4}, x.dtype());
      nisa::tensor_copy(swapped, t.permute({0, 2, 1})); // moves them
      nl::store(y, swapped.reshape({128, 32}));
      return y;
    }
  }];
}

def : RuleText<"V-06", "Dim 0 stays in place on chip",
  "it is the partition dim",
  "use nc_transpose to exchange partitions and a free dim"> {
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({64, 128}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      nl::store(y, t.permute({1, 0}));
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({64, 128}, x.dtype(), nl::shared_hbm);
      Tensor xT = nl::ndarray({64, 128}, x.dtype(), nl::psum);
      nisa::nc_transpose(xT, nl::load(x));
      Tensor t = nl::ndarray({64, 128}, x.dtype());
      nisa::tensor_copy(t, xT);
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"V-07", "Only a dim of extent 1 is broadcast",
  "a broadcast repeats one element",
  "select one element of the dim first"> {
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 4, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      nl::store(y, t.broadcast(1, 4)); // dim 1 has 64 elements
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 4, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      nl::store(y, t.expand_dim(1).broadcast(1, 4)); // 128x1x64, then 128x4x64
      return y;
    }
  }];
}

def : RuleText<"V-08", "A destination does not repeat storage",
  "with step 0 several values would land in one place",
  "write to a view without a broadcast"> {
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 1}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x), column = nl::zeros({128, 1}, x.dtype());
      nisa::tensor_copy(column.broadcast(1, 64), t); // 64 values for one place
      nl::store(y, column);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 1}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x), column = nl::ndarray({128, 1}, x.dtype());
      nisa::tensor_reduce(column, nl::add, t, 1);
      nl::store(y, column);
      return y;
    }
  }];
}

def : RuleText<"V-09", "A transfer does not overlap its source",
  "its sixteen DMA engines move their shares in no order, so overlapping views of one tensor give bits by chance",
  "copy to a second tensor first"> {
  let severity = "warning";
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      nisa::tensor_copy(t(_, ds(1, 63)), t(_, ds(0, 63))); // one to the right, in place
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x), moved = nl::load(x);
      nisa::tensor_copy(moved(_, ds(1, 63)), t(_, ds(0, 63)));
      nl::store(y, moved);
      return y;
    }
  }];
}

def : RuleText<"V-10", "An access pattern takes whole partitions",
  "every partition is accessed alike, so the first pair of an on-chip pattern is the partition step",
  "start the pattern with [elements of one partition, partitions]"> {
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 32}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      nl::store(y, t.ap({{32, 128}, {2, 32}})); // a partition holds 64 elements
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 32}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      nl::store(y, t.ap({{64, 128}, {2, 32}}));
      return y;
    }
  }];
}

def : RuleText<"V-11", "An access stays inside its tensor",
  "bytes outside belong to something else",
  "reduce the counts, the steps or the offset"> {
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 33}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      nl::store(y, t.ap({{64, 128}, {2, 33}})); // the 33rd would be element 64
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 32}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      nl::store(y, t.ap({{64, 128}, {2, 32}}));
      return y;
    }
  }];
}

def : RuleText<"V-18", "A sum goes to a known place",
  "which bank of PSUM a matmul writes, and which of its cells hold sums already, has to be known",
  "write to a fixed tile and copy it to the place the register says"> {
  let form = "asm";
  let wrong = [{
    .kernel "somewhere"
    .target "trn2"
    .flags placed
    .tensor %0 y hbm 1xf32 output 0
    .tensor %1 a sbuf 1x1xf32 at 0,0
    .tensor %2 p psum 1x4xf32 at 0,0
    .stream tensor
      nc_matmul dst=p[0+1, 0: 1x1 by r0*1 below 4] stationary=a[0+1, 0: 1x1] moving=a[0+1, 0: 1x1] #0
  }];
  let right = [{
    .kernel "here"
    .target "trn2"
    .flags placed
    .tensor %0 y hbm 1xf32 output 0
    .tensor %1 a sbuf 1x1xf32 at 0,0
    .tensor %2 p psum 1x4xf32 at 0,0
    .tensor %3 t sbuf 1x1xf32 at 0,64
    .stream tensor
      nc_matmul dst=p[0+1, 0: 1x1] stationary=a[0+1, 0: 1x1] moving=a[0+1, 0: 1x1] #1
    .stream vector
      memset dst=a[0+1, 0: 1x1] value=1.0 #0
      tensor_copy dst=t[0+1, 0: 1x1] src=p[0+1, 0: 1x1] #2
    .stream sync
      dma_copy dst=y[0: 1x1] src=t[0+1, 0: 1x1] #3
  }];
}

def : RuleText<"V-12", "A view has one index known at run time",
  "an access holds one register, one step and one extent",
  "add the registers up into one, or copy what the first index chooses"> {
  let arguments = "rand:8x4x64:float32 zeros:1:int32";
  let wrong = [{
    Tensor kernel(Tensor x, Tensor n) {
      Tensor y = nl::ndarray({1, 64}, x.dtype(), nl::shared_hbm);
      nl::Reg i = nisa::register_alloc(n), j = nisa::register_alloc(2);
      nl::store(y, nl::load(x.select(0, i).select(0, j).reshape({1, 64})));
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x, Tensor n) {
      Tensor y = nl::ndarray({1, 64}, x.dtype(), nl::shared_hbm);
      nl::Reg i = nisa::register_alloc(n), j = nisa::register_alloc(2);
      nl::store(y, nl::load(x.reshape({32, 64}).select(0, i * 4 + j).reshape({1, 64})));
      return y;
    }
  }];
}

def : RuleText<"V-14", "oob_mode::skip needs an index known only at run time",
  "a static access is checked while the kernel is compiled, so there is nothing to skip",
  "leave oob_mode out"> {
  let severity = "warning";
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::ndarray({128, 64}, x.dtype());
      nisa::dma_copy({.dst = t, .src = x, .oob_mode = nisa::oob_mode::skip});
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::ndarray({128, 64}, x.dtype());
      nisa::dma_copy({.dst = t, .src = x});
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"V-16", "ap is called on a whole tensor",
  "it addresses the storage and would ignore an earlier slice",
  "call ap on the tensor itself, or use view methods"> {
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 16}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      nl::store(y, t(_, ds(32, 32)).ap({{64, 128}, {2, 16}})); // forgets the slice
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 16}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::load(x);
      nl::store(y, t.ap({{64, 128}, {2, 16}}, {.offset = 32}));
      return y;
    }
  }];
}

#endif // KILN_TABLE_RULES_VIEWS_TD
