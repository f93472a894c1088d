-- Tables that users may edit to say what counts as what. They belong to the connection and start with the
-- defaults below; INSERT, UPDATE and DELETE change every view at once.

-- op_mask: which words make an operator or kernel count as attention, convolution, matrix product ...?
--
-- Keywords are lower case and looked for in the lower-case name; MC2_KERNEL must be the whole name.
-- Defaults of the compare tool's configuration file.
CREATE TEMP TABLE IF NOT EXISTS op_mask AS WITH given(
  mask,                   -- TEXT     FA_MASK, CONV_MASK, MATMUL_MASK: host operators; CUBE_MASK: GPU kernels;
                          --          TRANS_MASK, MC2_KERNEL: NPU kernels; BACKWARD_MASK: any name
  keyword                 -- TEXT     lower-case word
) AS (VALUES
  ('FA_MASK', 'flash_attention'), ('FA_MASK', 'fusion_attention'), ('FA_MASK', 'flashattn'),
  ('FA_MASK', 'xformers_flash'), ('FA_MASK', 'efficient_attention'), ('FA_MASK', 'flash2attn'),
  ('CONV_MASK', 'aten::conv'),
  ('MATMUL_MASK', 'aten::addmm'), ('MATMUL_MASK', 'aten::bmm'), ('MATMUL_MASK', 'aten::mm'),
  ('MATMUL_MASK', 'aten::matmul'),
  ('CUBE_MASK', 'gemm'), ('CUBE_MASK', 'conv'), ('CUBE_MASK', 'cutlass'), ('CUBE_MASK', 'wgrad'),
  ('CUBE_MASK', 'gemvx'),
  ('TRANS_MASK', 'cast'), ('TRANS_MASK', 'transdata'), ('TRANS_MASK', 'transpose'),
  ('MC2_KERNEL', 'allgathermatmul'), ('MC2_KERNEL', 'matmulreducescatter'), ('MC2_KERNEL', 'matmulallreduce'),
  ('BACKWARD_MASK', 'bwd'), ('BACKWARD_MASK', 'backward'), ('BACKWARD_MASK', 'back'), ('BACKWARD_MASK', 'grad')
)
SELECT mask, keyword FROM given;

-- What would match nothing is refused.
CREATE TEMP TRIGGER IF NOT EXISTS op_mask_insert BEFORE INSERT ON op_mask
WHEN NEW.mask IS NULL OR NEW.mask NOT IN ('FA_MASK', 'CONV_MASK', 'MATMUL_MASK', 'CUBE_MASK', 'TRANS_MASK', 'MC2_KERNEL', 'BACKWARD_MASK')
  OR NEW.keyword IS NULL OR NEW.keyword = '' OR NEW.keyword IS NOT lower(trim(NEW.keyword))
BEGIN
  SELECT RAISE(ABORT, 'op_mask takes a mask of FA_MASK, CONV_MASK, MATMUL_MASK, CUBE_MASK, TRANS_MASK, MC2_KERNEL or BACKWARD_MASK and a keyword in lower case without blanks around it: others would match nothing');
END;
CREATE TEMP TRIGGER IF NOT EXISTS op_mask_update BEFORE UPDATE ON op_mask
WHEN NEW.mask IS NULL OR NEW.mask NOT IN ('FA_MASK', 'CONV_MASK', 'MATMUL_MASK', 'CUBE_MASK', 'TRANS_MASK', 'MC2_KERNEL', 'BACKWARD_MASK')
  OR NEW.keyword IS NULL OR NEW.keyword = '' OR NEW.keyword IS NOT lower(trim(NEW.keyword))
BEGIN
  SELECT RAISE(ABORT, 'op_mask takes a mask of FA_MASK, CONV_MASK, MATMUL_MASK, CUBE_MASK, TRANS_MASK, MC2_KERNEL or BACKWARD_MASK and a keyword in lower case without blanks around it: others would match nothing');
END;

-- op_equivalent: which names of the two profiles mean the same work?
--
-- Empty until users fill it, for instance with the operators and kernels of two vendors:
-- INSERT INTO op_equivalent VALUES ('Optimizer.step#SGD.step', 'Optimizer.step#NpuFusedSGD.step').
-- Pairs hold for operators, kernels, APIs and collectives, in detail and statistic sheets. A name of comparison stands for
-- one of base: a second row for it is an error, since its work would count twice.
CREATE TEMP TABLE IF NOT EXISTS op_equivalent(
  a,                      -- TEXT     name in profile base
  b                       -- TEXT     name in profile comparison
);
CREATE UNIQUE INDEX IF NOT EXISTS temp.op_equivalent_key ON op_equivalent(b);
