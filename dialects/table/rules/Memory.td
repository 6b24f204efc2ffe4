//===- Memory.td - rules about tiles in memory ------------------------------------------------===//

#ifndef KILN_TABLE_RULES_MEMORY_TD
#define KILN_TABLE_RULES_MEMORY_TD

include "Base.td"

def : RuleText<"M-01", "Live tiles fit SBUF",
  "a partition has 212,984 usable bytes",
  "free the largest tile earlier, make tiles smaller, or load less at once"> {
  let arguments = "zeros:128x60000:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 60000}, x.dtype(), nl::shared_hbm);
      std::vector<Tensor> all; // 240,000 bytes of a partition at once
      for (Chunk c : nl::tiles(60000, 10000))
        all.push_back(nl::load(x(_, c)));
      for (Chunk c : nl::tiles(60000, 10000))
        nl::store(y(_, c), all[c.index]);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 60000}, x.dtype(), nl::shared_hbm);
      for (Chunk c : nl::tiles(60000, 10000))
        nl::store(y(_, c), nl::load(x(_, c))); // each is free again at once
      return y;
    }
  }];
}

def : RuleText<"M-02", "A tile fits a partition",
  "a tile cannot be larger than the memory of one partition",
  "split the free dims"> {
  let arguments = "zeros:128x60000:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 60000}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::ndarray({128, 60000}, x.dtype()); // 240,000 bytes a partition
      nisa::dma_copy(t, x);
      nisa::dma_copy(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 60000}, x.dtype(), nl::shared_hbm);
      for (Chunk c : nl::tiles(60000, 8192)) {
        Tensor t = nl::ndarray({128, c.size}, x.dtype());
        nisa::dma_copy(t, x(_, c));
        nisa::dma_copy(y(_, c), t);
      }
      return y;
    }
  }];
}

def : RuleText<"M-03", "An address lies inside the usable bytes",
  "the top of a partition is reserved",
  "choose a smaller address"> {
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::ndarray({128, 64}, x.dtype(), nl::sbuf,
                             {.address = nl::Address{0, 212900}}); // 256 bytes from there
      nisa::dma_copy(t, x);
      nisa::dma_copy(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::ndarray({128, 64}, x.dtype(), nl::sbuf, {.address = nl::Address{0, 0}});
      nisa::dma_copy(t, x);
      nisa::dma_copy(y, t);
      return y;
    }
  }];
}

def : RuleText<"M-04", "Tiles placed by hand do not overlap while live",
  "one would overwrite the other",
  "move one of them, or let the compiler place it"> {
  let isDemotable = 1;
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor a = nl::ndarray({128, 64}, x.dtype(), nl::sbuf, {.address = nl::Address{0, 0}});
      Tensor b = nl::ndarray({128, 64}, x.dtype(), nl::sbuf, {.address = nl::Address{0, 128}});
      nisa::dma_copy(a, x);
      nisa::memset(b, 1); // bytes 128 to 383, a has 0 to 255
      nisa::tensor_tensor(a, a, b, nl::add);
      nisa::dma_copy(y, a);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 64}, x.dtype(), nl::shared_hbm);
      Tensor a = nl::ndarray({128, 64}, x.dtype(), nl::sbuf, {.address = nl::Address{0, 0}});
      Tensor b = nl::ndarray({128, 64}, x.dtype(), nl::sbuf, {.address = nl::Address{0, 256}});
      nisa::dma_copy(a, x);
      nisa::memset(b, 1);
      nisa::tensor_tensor(a, a, b, nl::add);
      nisa::dma_copy(y, a);
      return y;
    }
  }];
}

def : RuleText<"M-05", "Tiles that rotate by hand are dead before their address is used again",
  "tile i + n is written into the bytes of tile i",
  "rotate over as many tiles as are live at once, or let the compiler place them"> {
  let isDemotable = 1;
  let arguments = "rand:128x512:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 512}, x.dtype(), nl::shared_hbm);
      nl::ModuloAllocation ring({.base = 0, .tile_bytes = 512, .num_tiles = {2}});
      Tensor before;
      for (Chunk c : nl::tiles(512, 128)) { // three tiles are live: before, t and sum
        Tensor t = nl::ndarray({128, 128}, x.dtype(), nl::sbuf, {.address = ring(c.index)});
        nisa::dma_copy(t, x(_, c));
        if (c.index > 1)
          nl::store(y(_, ds(c.start - 256, 128)), before);
        before = c.index == 0 ? t : before;
        nl::store(y(_, c), t);
      }
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 512}, x.dtype(), nl::shared_hbm);
      nl::ModuloAllocation ring({.base = 0, .tile_bytes = 512, .num_tiles = {2}});
      for (Chunk c : nl::tiles(512, 128)) {
        Tensor t = nl::ndarray({128, 128}, x.dtype(), nl::sbuf, {.address = ring(c.index)});
        nisa::dma_copy(t, x(_, c));
        nl::store(y(_, c), t);
      }
      return y;
    }
  }];
}

def : RuleText<"M-06", "A PSUM address is a bank boundary",
  "accumulation works bank by bank",
  "use a multiple of 2048"> {
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({64, 64}, nl::float32, nl::shared_hbm);
      Tensor a = nl::load(x), t = nl::ndarray({64, 64}, nl::float32);
      Tensor acc = nl::ndarray({64, 64}, nl::float32, nl::psum,
                               {.address = nl::Address{0, 1024}}); // inside bank 0
      nisa::nc_matmul(acc, a, a);
      nisa::tensor_copy(t, acc);
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({64, 64}, nl::float32, nl::shared_hbm);
      Tensor a = nl::load(x), t = nl::ndarray({64, 64}, nl::float32);
      Tensor acc = nl::ndarray({64, 64}, nl::float32, nl::psum,
                               {.address = nl::Address{0, 2048}}); // bank 1
      nisa::nc_matmul(acc, a, a);
      nisa::tensor_copy(t, acc);
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"M-07", "An address starts at a legal partition",
  "engine accesses start at quadrants",
  "choose 0, 32, 64 or 96 as the partition count allows"> {
  let arguments = "rand:96x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({96, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::ndarray({96, 64}, x.dtype(), nl::sbuf,
                             {.address = nl::Address{32, 0}}); // partitions 32 to 127
      nisa::dma_copy(t, x);
      nisa::dma_copy(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({96, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::ndarray({96, 64}, x.dtype(), nl::sbuf, {.address = nl::Address{0, 0}});
      nisa::dma_copy(t, x);
      nisa::dma_copy(y, t);
      return y;
    }
  }];
}

def : RuleText<"M-08", "A tile is written before it is read",
  "memory is not initialised, nor are the reduction registers of an engine",
  "write it first: dma_copy, memset or a matmul; begin a chain of reductions with reduce_cmd reset_reduce"> {
  let arguments = "rand:128x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 1}, nl::float32, nl::shared_hbm);
      Tensor t = nl::load(x), sum = nl::ndarray({128, 1}, nl::float32);
      for (int i = 0; i < 64; ++i)
        nisa::tensor_tensor(sum, sum, t(_, i), nl::add); // adds to what?
      nl::store(y, sum);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 1}, nl::float32, nl::shared_hbm);
      Tensor t = nl::load(x), sum = nl::zeros({128, 1}, nl::float32);
      for (int i = 0; i < 64; ++i)
        nisa::tensor_tensor(sum, sum, t(_, i), nl::add);
      nl::store(y, sum);
      return y;
    }
  }];
}

def : RuleText<"M-09", "Every byte read was written",
  "a tail tile writes fewer bytes than a full one",
  "read only what was written"> {
  let form = "run";
  let arguments = "rand:128x100:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 1}, nl::float32, nl::shared_hbm);
      Tensor t = nl::ndarray({128, 128}, x.dtype()), sum = nl::ndarray({128, 1}, nl::float32);
      nisa::dma_copy(t(_, ds(0, 100)), x); // 100 of 128 columns
      nisa::tensor_reduce(sum, nl::add, t, 1);
      nl::store(y, sum);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({128, 1}, nl::float32, nl::shared_hbm);
      Tensor t = nl::ndarray({128, 128}, x.dtype()), sum = nl::ndarray({128, 1}, nl::float32);
      nisa::dma_copy(t(_, ds(0, 100)), x);
      nisa::tensor_reduce(sum, nl::add, t(_, ds(0, 100)), 1);
      nl::store(y, sum);
      return y;
    }
  }];
}

def : RuleText<"M-10", "Accumulation starts with a matmul",
  "adding onto anything else is undefined on trn2",
  "let the first matmul overwrite: accumulate left out, or false"> {
  let arguments = "rand:128x64:bf16";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({64, 64}, nl::float32, nl::shared_hbm);
      Tensor a = nl::load(x), t = nl::ndarray({64, 64}, nl::float32);
      Tensor acc = nl::zeros({64, 64}, nl::float32, nl::psum); // opens no accumulation
      for (int k = 0; k < 2; ++k)
        nisa::nc_matmul({.dst = acc, .stationary = a, .moving = a, .accumulate = true});
      nisa::tensor_copy(t, acc);
      nl::store(y, t);
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({64, 64}, nl::float32, nl::shared_hbm);
      Tensor a = nl::load(x), t = nl::ndarray({64, 64}, nl::float32);
      Tensor acc = nl::ndarray({64, 64}, nl::float32, nl::psum);
      for (int k = 0; k < 2; ++k)
        nisa::nc_matmul({.dst = acc, .stationary = a, .moving = a, .accumulate = k > 0});
      nisa::tensor_copy(t, acc);
      nl::store(y, t);
      return y;
    }
  }];
}

def : RuleText<"M-12", "A tile declared outside a loop serialises it",
  "it is one piece of memory, so an iteration cannot fill it before the one before has used it; a tile declared inside is a new one in every iteration",
  "declare it inside the loop"> {
  let severity = "warning";
  let arguments = "rand:512x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({512, 64}, x.dtype(), nl::shared_hbm);
      Tensor t = nl::ndarray({128, 64}, x.dtype()); // one tile for all iterations
      for (Chunk r : nl::tiles(512, 128)) {
        nisa::dma_copy(t, x(r, _)); // waits until the last store is done
        nisa::activation(t, nl::exp, t);
        nisa::dma_copy(y(r, _), t);
      }
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({512, 64}, x.dtype(), nl::shared_hbm);
      for (Chunk r : nl::tiles(512, 128)) {
        Tensor t = nl::ndarray({128, 64}, x.dtype()); // one for each
        nisa::dma_copy(t, x(r, _));
        nisa::activation(t, nl::exp, t);
        nisa::dma_copy(y(r, _), t);
      }
      return y;
    }
  }];
}

def : RuleText<"M-13", "Names are unique",
  "reports and schedules name tensors",
  "choose another name, or none"> {
  let arguments = "rand:256x64:float32";
  let wrong = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({256, 64}, x.dtype(), nl::shared_hbm);
      for (Chunk r : nl::tiles(256, 128)) {
        Tensor t = nl::ndarray({128, 64}, x.dtype(), nl::sbuf, {.name = "rows"}); // twice
        nisa::dma_copy(t, x(r, _));
        nisa::dma_copy(y(r, _), t);
      }
      return y;
    }
  }];
  let right = [{
    Tensor kernel(Tensor x) {
      Tensor y = nl::ndarray({256, 64}, x.dtype(), nl::shared_hbm);
      for (Chunk r : nl::tiles(256, 128)) {
        Tensor t = nl::ndarray({128, 64}, x.dtype(), nl::sbuf,
                               {.name = "rows" + std::to_string(r.index)});
        nisa::dma_copy(t, x(r, _));
        nisa::dma_copy(y(r, _), t);
      }
      return y;
    }
  }];
}

#endif // KILN_TABLE_RULES_MEMORY_TD
