-- What a chip can do at most, by data type. The tables belong to the connection and to its users: INSERT, UPDATE and
-- DELETE change chip_peak() and every MFU view at once.

-- dtype_names: which data type does a name in a profile mean?
--
-- Names of GE (DT_BF16, FLOAT16), MindSpore (FLOAT16_), torch and its traces (c10::BFloat16, float), lower case. A name
-- that is not here has no peak: INT32, BOOL, UINT8 and such.
CREATE TEMP TABLE IF NOT EXISTS dtype_names AS WITH given(
  dtype,                  -- TEXT     fp64, fp32, tf32, fp16, bf16, fp8, hif8, fp6, fp4, int8, int4
  name                    -- TEXT     lower-case name that a source uses
) AS (
  SELECT dtype, value
    FROM (SELECT column1 AS dtype, column2 AS names FROM (VALUES
      ('fp64', '["fp64","float64","double","dt_double","double_","float64_","torch.float64","torch.double"]'),
      ('fp32', '["fp32","float32","float","dt_float","float_","float32_","torch.float32","torch.float"]'),
      ('tf32', '["tf32"]'),
      ('fp16', '["fp16","float16","half","dt_float16","float16_","c10::half","torch.float16","torch.half"]'),
      ('bf16', '["bf16","bfloat16","dt_bf16","bf16_","bfloat16_","c10::bfloat16","torch.bfloat16"]'),
      ('fp8', '["fp8","fp8_e4m3","fp8_e5m2","float8","float8_e4m3fn","float8_e5m2","float8_e4m3fnuz","float8_e5m2fnuz",
                "dt_float8_e4m3fn","dt_float8_e5m2","c10::float8_e4m3fn","c10::float8_e5m2","c10::float8_e4m3fnuz",
                "c10::float8_e5m2fnuz","torch.float8_e4m3fn","torch.float8_e5m2","torch.float8_e4m3fnuz",
                "torch.float8_e5m2fnuz"]'),
      ('hif8', '["hif8","hifloat8","dt_hifloat8"]'),
      ('fp6', '["fp6","float6_e3m2","float6_e2m3","dt_float6_e3m2","dt_float6_e2m3"]'),
      ('fp4', '["fp4","float4_e2m1","float4_e1m2","dt_float4_e2m1","dt_float4_e1m2","c10::float4_e2m1fn_x2",
                "torch.float4_e2m1fn_x2"]'),
      ('int8', '["int8","dt_int8","int8_","qint8","signed char","c10::qint8","torch.int8","torch.qint8"]'),
      ('int4', '["int4","dt_int4","int4_","torch.int4"]'))), json_each(names)
)
SELECT dtype, name FROM given;
CREATE UNIQUE INDEX IF NOT EXISTS temp.dtype_names_key ON dtype_names(name);

-- cube_rates: how many operations does one Ascend AI core do in a cycle?
--
-- Two operations for each multiply-add of the cube unit. FLOAT counts at the rate of FLOAT16, as msprof-analyze counts
-- it, although the cube unit takes fp32 operands more slowly (HF32) or not at all.
CREATE TEMP TABLE IF NOT EXISTS cube_rates AS WITH given(
  chip_pattern,           -- TEXT     GLOB over the lower-case chip name; * also where the name is not known
  dtype,                  -- TEXT     as dtype_names
  ops_per_cycle,          -- INTEGER  operations of one core in one cycle
  source                  -- TEXT     where the figure comes from
) AS (VALUES
  ('*', 'fp16', 16 * 16 * 16 * 2, 'msprof-analyze operator_mfu'),
  ('*', 'bf16', 16 * 16 * 16 * 2, 'msprof-analyze operator_mfu'),
  ('*', 'fp32', 16 * 16 * 16 * 2, 'msprof-analyze operator_mfu: FLOAT at the FLOAT16 rate'),
  ('*', 'int8', 16 * 32 * 16 * 2, 'msprof-analyze operator_mfu'),
  ('*', 'int4', 16 * 64 * 16 * 2, 'CANN platform_config, DtypeMKN'),
  ('ascend950*', 'fp8', 16 * 32 * 16 * 2, 'CANN platform_config, DtypeMKN'),
  ('ascend950*', 'hif8', 16 * 32 * 16 * 2, 'CANN platform_config, DtypeMKN'),
  ('ascend950*', 'fp4', 16 * 64 * 16 * 2, 'CANN platform_config, DtypeMKN')
)
SELECT chip_pattern, dtype, ops_per_cycle, source FROM given;

-- chip_names: which chip of chip_peaks does a name in a profile mean?
--
-- The longest pattern that fits decides; the names of chip_peaks themselves need none. Ascend910B as the profiler
-- writes it may be any A2 or A3 part, so that name means no chip.
CREATE TEMP TABLE IF NOT EXISTS chip_names AS WITH given(
  pattern,                -- TEXT     GLOB over the lower-case name
  chip                    -- TEXT     chip_peaks.chip
) AS (VALUES
  ('*v100*', 'NVIDIA V100 SXM2'), ('*v100*pcie*', 'NVIDIA V100 PCIe'), ('*v100s*', 'NVIDIA V100S PCIe'),
  ('*a100*', 'NVIDIA A100'), ('*a800*', 'NVIDIA A800'),
  ('*h100*', 'NVIDIA H100 SXM'), ('*h100*pcie*', 'NVIDIA H100 PCIe'), ('*h100*nvl*', 'NVIDIA H100 NVL'),
  ('*gh200*', 'NVIDIA H100 SXM'), ('*h200*', 'NVIDIA H200 SXM'), ('*h200*nvl*', 'NVIDIA H200 NVL'),
  ('*h800*', 'NVIDIA H800 SXM'), ('*h800*pcie*', 'NVIDIA H800 PCIe'), ('*h20', 'NVIDIA H20'), ('*h20[- ]*', 'NVIDIA H20'),
  ('*b100', 'NVIDIA B100'), ('*b100[- ]*', 'NVIDIA B100'), ('*b200', 'NVIDIA B200'), ('*b200[- ]*', 'NVIDIA B200'),
  ('*gb200*', 'NVIDIA GB200'),
  ('*l40s*', 'NVIDIA L40S'), ('*l4', 'NVIDIA L4'), ('*l4[- ]*', 'NVIDIA L4'), ('*tesla t4*', 'NVIDIA T4'),
  ('t4', 'NVIDIA T4'), ('nvidia t4*', 'NVIDIA T4'), ('*a10', 'NVIDIA A10'), ('*a10[- ]*', 'NVIDIA A10'),
  ('*a30', 'NVIDIA A30'), ('*a30[- ]*', 'NVIDIA A30'), ('*a40', 'NVIDIA A40'), ('*a40[- ]*', 'NVIDIA A40'),
  ('*rtx 4090', 'NVIDIA GeForce RTX 4090'), ('*rtx4090', 'NVIDIA GeForce RTX 4090'),
  ('*mi100*', 'AMD Instinct MI100'), ('*mi210*', 'AMD Instinct MI210'), ('*mi250', 'AMD Instinct MI250'),
  ('*mi250x*', 'AMD Instinct MI250X'), ('*mi300x*', 'AMD Instinct MI300X'), ('*mi300a*', 'AMD Instinct MI300A'),
  ('*mi325x*', 'AMD Instinct MI325X'), ('*mi350x*', 'AMD Instinct MI350X'), ('*mi355x*', 'AMD Instinct MI355X'),
  ('ascend950dt_950*', 'Ascend950DT_950x'), ('ascend950pr_950*', 'Ascend950PR_950z'),
  ('ascend950dt_957*', 'Ascend950DT_957x'), ('ascend950pr_957*', 'Ascend950PR_957x'),
  ('ascend950dt_958*', 'Ascend950DT_958x'), ('ascend950pr_958*', 'Ascend950PR_958x'),
  ('ascend950dt_959*', 'Ascend950DT_959x'), ('ascend950dt_95a*', 'Ascend950DT_95A1')
)
SELECT pattern, chip FROM given;

-- chip_peaks: how many operations can a chip do in a second?
--
-- Dense rates of the matrix units, as the vendor publishes them; the rate with 2:4 sparsity stands beside and is never
-- used. Ascend: AI cores x MHz x cube_rates, nominal figures, used where a profile lacks info.json. fp32 of a GPU is the
-- rate without TF32. A row of your own (INSERT OR REPLACE, shipped left out) also comes before info.json.
CREATE TEMP TABLE IF NOT EXISTS chip_peaks AS WITH given(
  chip,                   -- TEXT     chip, as chip_names finds it
  dtype,                  -- TEXT     as dtype_names
  dense_flops_per_s,      -- REAL     operations a second
  sparse_flops_per_s,     -- REAL     operations a second with structured sparsity; NULL: not offered or not published
  source,                 -- TEXT     where the figure comes from
  shipped                 -- INTEGER  1: came with the library; NULL: yours
) AS (
  SELECT soc.chip, r.dtype, soc.cores * soc.mhz * 1e6 * r.ops_per_cycle, NULL,
         'CANN platform_config: ' || soc.cores || ' cores, ' || soc.mhz || ' MHz; ' || r.source, 1
    FROM (SELECT column1 AS chip, column2 AS cores, column3 AS mhz FROM (VALUES
      ('Ascend910A', 32, 1000), ('Ascend910ProA', 32, 1100), ('Ascend910ProB', 30, 1150), ('Ascend910PremiumA', 32, 1220),
      ('Ascend910B1', 24, 1850), ('Ascend910B2', 24, 1800), ('Ascend910B2C', 24, 1800), ('Ascend910B3', 20, 1800),
      ('Ascend910B4', 20, 1500), ('Ascend910B4-1', 20, 1500),
      ('Ascend910_9391', 24, 1850), ('Ascend910_9392', 24, 1850), ('Ascend910_9381', 24, 1800),
      ('Ascend910_9382', 24, 1800), ('Ascend910_9372', 20, 1800), ('Ascend910_9362', 20, 1500),
      ('Ascend910_9363', 20, 1500),
      ('Ascend310P1', 10, 1060), ('Ascend310P3', 8, 1060), ('Ascend310P5', 8, 800), ('Ascend310P7', 8, 550),
      ('Ascend310B1', 1, 1224), ('Ascend310B2', 1, 1224), ('Ascend310B3', 1, 1224), ('Ascend310B4', 1, 500),
      ('Ascend950DT_950x', 8, 1650), ('Ascend950PR_950z', 4, 1650), ('Ascend950DT_957x', 28, 1650),
      ('Ascend950PR_957x', 28, 1650), ('Ascend950DT_958x', 32, 1650), ('Ascend950PR_958x', 32, 1650),
      ('Ascend950DT_959x', 36, 1800), ('Ascend950PR_9599', 36, 1800), ('Ascend950DT_95A1', 36, 1800),
      ('Ascend350_354f', 14, 1650), ('Ascend350_355e', 16, 1650))) AS soc
    JOIN cube_rates AS r ON lower(soc.chip) GLOB r.chip_pattern
   UNION ALL
  SELECT rate.chip, dtype.value, round(rate.dense * 1e12), round(rate.sparse * 1e12), sheet.source, 1
    FROM (SELECT column1 AS chip, column2 AS dtypes, column3 AS dense, column4 AS sparse FROM (VALUES  -- TFLOPS
      ('NVIDIA V100 SXM2', '["fp64"]', 7.8, NULL), ('NVIDIA V100 SXM2', '["fp32"]', 15.7, NULL),
      ('NVIDIA V100 SXM2', '["fp16"]', 125, NULL),
      ('NVIDIA V100 PCIe', '["fp64"]', 7, NULL), ('NVIDIA V100 PCIe', '["fp32"]', 14, NULL),
      ('NVIDIA V100 PCIe', '["fp16"]', 112, NULL),
      ('NVIDIA V100S PCIe', '["fp64"]', 8.2, NULL), ('NVIDIA V100S PCIe', '["fp32"]', 16.4, NULL),
      ('NVIDIA V100S PCIe', '["fp16"]', 130, NULL),
      ('NVIDIA T4', '["fp32"]', 8.1, NULL), ('NVIDIA T4', '["fp16"]', 65, NULL), ('NVIDIA T4', '["int8"]', 130, NULL),
      ('NVIDIA T4', '["int4"]', 260, NULL),
      ('NVIDIA A100', '["fp64","fp32"]', 19.5, NULL), ('NVIDIA A100', '["tf32"]', 156, 312),
      ('NVIDIA A100', '["fp16","bf16"]', 312, 624), ('NVIDIA A100', '["int8"]', 624, 1248),
      ('NVIDIA A100', '["int4"]', 1248, 2496),
      ('NVIDIA A800', '["fp64","fp32"]', 19.5, NULL), ('NVIDIA A800', '["tf32"]', 156, 312),
      ('NVIDIA A800', '["fp16","bf16"]', 312, 624), ('NVIDIA A800', '["int8"]', 624, 1248),
      ('NVIDIA A10', '["fp32"]', 31.2, NULL), ('NVIDIA A10', '["tf32"]', 62.5, 125),
      ('NVIDIA A10', '["fp16","bf16"]', 125, 250), ('NVIDIA A10', '["int8"]', 250, 500), ('NVIDIA A10', '["int4"]', 500, 1000),
      ('NVIDIA A30', '["fp64","fp32"]', 10.3, NULL), ('NVIDIA A30', '["tf32"]', 82, 165),
      ('NVIDIA A30', '["fp16","bf16"]', 165, 330), ('NVIDIA A30', '["int8"]', 330, 661), ('NVIDIA A30', '["int4"]', 661, 1321),
      ('NVIDIA A40', '["fp32"]', 37.4, NULL), ('NVIDIA A40', '["tf32"]', 74.8, 149.6),
      ('NVIDIA A40', '["fp16","bf16"]', 149.7, 299.4), ('NVIDIA A40', '["int8"]', 299.3, 598.6),
      ('NVIDIA A40', '["int4"]', 598.7, 1197.4),
      ('NVIDIA L4', '["fp32"]', 30.3, NULL), ('NVIDIA L4', '["tf32"]', 60, 120), ('NVIDIA L4', '["fp16","bf16"]', 121, 242),
      ('NVIDIA L4', '["fp8","int8"]', 242.5, 485),
      ('NVIDIA L40S', '["fp32"]', 91.6, NULL), ('NVIDIA L40S', '["tf32"]', 183, 366),
      ('NVIDIA L40S', '["fp16","bf16"]', 362.05, 733), ('NVIDIA L40S', '["fp8","int8","int4"]', 733, 1466),
      ('NVIDIA GeForce RTX 4090', '["fp32"]', 82.6, NULL), ('NVIDIA GeForce RTX 4090', '["tf32"]', 82.6, 165.2),
      ('NVIDIA GeForce RTX 4090', '["fp16","bf16"]', 165.2, 330.4), ('NVIDIA GeForce RTX 4090', '["fp8"]', 330.3, 660.6),
      ('NVIDIA GeForce RTX 4090', '["int8"]', 660.6, 1321.2), ('NVIDIA GeForce RTX 4090', '["int4"]', 1321.2, 2642.4),
      ('NVIDIA H100 SXM', '["fp64","fp32"]', 66.9, NULL), ('NVIDIA H100 SXM', '["tf32"]', 494.7, 989.4),
      ('NVIDIA H100 SXM', '["fp16","bf16"]', 989.4, 1978.9), ('NVIDIA H100 SXM', '["fp8","int8"]', 1978.9, 3957.8),
      ('NVIDIA H100 PCIe', '["fp64","fp32"]', 51.2, NULL), ('NVIDIA H100 PCIe', '["tf32"]', 378, 756),
      ('NVIDIA H100 PCIe', '["fp16","bf16"]', 756, 1513), ('NVIDIA H100 PCIe', '["fp8","int8"]', 1513, 3026),
      ('NVIDIA H100 NVL', '["fp64","fp32"]', 60, NULL), ('NVIDIA H100 NVL', '["tf32"]', 417.5, 835),
      ('NVIDIA H100 NVL', '["fp16","bf16"]', 835.5, 1671), ('NVIDIA H100 NVL', '["fp8","int8"]', 1670.5, 3341),
      ('NVIDIA H200 SXM', '["fp64","fp32"]', 67, NULL), ('NVIDIA H200 SXM', '["tf32"]', 494.5, 989),
      ('NVIDIA H200 SXM', '["fp16","bf16"]', 989.5, 1979), ('NVIDIA H200 SXM', '["fp8","int8"]', 1979, 3958),
      ('NVIDIA H200 NVL', '["fp64","fp32"]', 60, NULL), ('NVIDIA H200 NVL', '["tf32"]', 417.5, 835),
      ('NVIDIA H200 NVL', '["fp16","bf16"]', 835.5, 1671), ('NVIDIA H200 NVL', '["fp8","int8"]', 1670.5, 3341),
      ('NVIDIA H800 SXM', '["fp64"]', 1, NULL), ('NVIDIA H800 SXM', '["fp32"]', 67, NULL),
      ('NVIDIA H800 SXM', '["tf32"]', 494.5, 989), ('NVIDIA H800 SXM', '["fp16","bf16"]', 989.5, 1979),
      ('NVIDIA H800 SXM', '["fp8","int8"]', 1979, 3958),
      ('NVIDIA H800 PCIe', '["fp64"]', 0.8, NULL), ('NVIDIA H800 PCIe', '["fp32"]', 51, NULL),
      ('NVIDIA H800 PCIe', '["tf32"]', 378, 756), ('NVIDIA H800 PCIe', '["fp16","bf16"]', 756.5, 1513),
      ('NVIDIA H800 PCIe', '["fp8","int8"]', 1513, 3026),
      ('NVIDIA H20', '["fp64"]', 1, NULL), ('NVIDIA H20', '["fp32"]', 44, NULL), ('NVIDIA H20', '["tf32"]', 74, NULL),
      ('NVIDIA H20', '["fp16","bf16"]', 148, NULL), ('NVIDIA H20', '["fp8","int8"]', 296, NULL),
      ('NVIDIA B100', '["fp16","bf16"]', 1750, 3500), ('NVIDIA B100', '["fp8","int8"]', 3500, 7000),
      ('NVIDIA B100', '["fp4"]', 7000, 14000),
      ('NVIDIA B200', '["tf32"]', 1125, 2250), ('NVIDIA B200', '["fp16","bf16"]', 2250, 4500),
      ('NVIDIA B200', '["fp8","int8"]', 4500, 9000), ('NVIDIA B200', '["fp4"]', 9000, 18000),
      ('NVIDIA GB200', '["tf32"]', 1250, 2500), ('NVIDIA GB200', '["fp16","bf16"]', 2500, 5000),
      ('NVIDIA GB200', '["fp8","int8"]', 5000, 10000), ('NVIDIA GB200', '["fp4"]', 10000, 20000),
      ('AMD Instinct MI100', '["fp64"]', 11.5, NULL), ('AMD Instinct MI100', '["fp32"]', 46.1, NULL),
      ('AMD Instinct MI100', '["fp16","int8"]', 184.6, NULL), ('AMD Instinct MI100', '["bf16"]', 92.3, NULL),
      ('AMD Instinct MI210', '["fp64","fp32"]', 45.3, NULL), ('AMD Instinct MI210', '["fp16","bf16","int8"]', 181, NULL),
      ('AMD Instinct MI250', '["fp64","fp32"]', 45.25, NULL),
      ('AMD Instinct MI250', '["fp16","bf16","int8"]', 181.05, NULL),
      ('AMD Instinct MI250X', '["fp64","fp32"]', 47.85, NULL),
      ('AMD Instinct MI250X', '["fp16","bf16","int8"]', 191.5, NULL),
      ('AMD Instinct MI300A', '["fp64","fp32"]', 122.6, NULL), ('AMD Instinct MI300A', '["tf32"]', 490.3, 980.6),
      ('AMD Instinct MI300A', '["fp16","bf16"]', 980.6, 1961.2), ('AMD Instinct MI300A', '["fp8","int8"]', 1961.2, 3922.3),
      ('AMD Instinct MI300X', '["fp64","fp32"]', 163.4, NULL), ('AMD Instinct MI300X', '["tf32"]', 653.7, 1307.4),
      ('AMD Instinct MI300X', '["fp16","bf16"]', 1307.4, 2614.9), ('AMD Instinct MI300X', '["fp8","int8"]', 2614.9, 5229.8),
      ('AMD Instinct MI325X', '["fp64","fp32"]', 163.4, NULL), ('AMD Instinct MI325X', '["tf32"]', 653.7, 1307.4),
      ('AMD Instinct MI325X', '["fp16","bf16"]', 1307.4, 2614.9), ('AMD Instinct MI325X', '["fp8","int8"]', 2614.9, 5229.8),
      ('AMD Instinct MI350X', '["fp16","bf16"]', 2306.9, 4613.7), ('AMD Instinct MI350X', '["fp8","int8"]', 4613.7, 9227.5),
      ('AMD Instinct MI350X', '["fp6","fp4"]', 9227.5, NULL),
      ('AMD Instinct MI355X', '["fp16","bf16"]', 2516.6, 5033.2), ('AMD Instinct MI355X', '["fp8","int8"]', 5033.2, 10066.3),
      ('AMD Instinct MI355X', '["fp6","fp4"]', 10066.3, NULL))) AS rate
    JOIN (SELECT column1 AS chip, column2 AS source FROM (VALUES
      ('NVIDIA V100 SXM2', 'NVIDIA V100 data sheet'), ('NVIDIA V100 PCIe', 'NVIDIA V100 data sheet'),
      ('NVIDIA V100S PCIe', 'NVIDIA V100 data sheet'), ('NVIDIA T4', 'NVIDIA T4 data sheet'),
      ('NVIDIA A100', 'NVIDIA A100 data sheet (FP64 by tensor cores)'), ('NVIDIA A800', 'NVIDIA A800 data sheet'),
      ('NVIDIA A10', 'NVIDIA A10 data sheet'), ('NVIDIA A30', 'NVIDIA A30 data sheet'), ('NVIDIA A40', 'NVIDIA A40 data sheet'),
      ('NVIDIA L4', 'NVIDIA L4 data sheet, half of the figures with sparsity'), ('NVIDIA L40S', 'NVIDIA L40S data sheet'),
      ('NVIDIA GeForce RTX 4090', 'NVIDIA Ada architecture paper, FP32 accumulation'),
      ('NVIDIA H100 SXM', 'NVIDIA H100 architecture paper'), ('NVIDIA H100 PCIe', 'NVIDIA H100 architecture paper'),
      ('NVIDIA H100 NVL', 'NVIDIA H100 data sheet, half of the figures with sparsity'),
      ('NVIDIA H200 SXM', 'NVIDIA H200 data sheet, half of the figures with sparsity'),
      ('NVIDIA H200 NVL', 'NVIDIA H200 data sheet, half of the figures with sparsity'),
      ('NVIDIA H800 SXM', 'NVIDIA H800 data sheet, half of the figures with sparsity'),
      ('NVIDIA H800 PCIe', 'NVIDIA H800 data sheet, half of the figures with sparsity'), ('NVIDIA H20', 'NVIDIA H20 data sheet'),
      ('NVIDIA B100', 'NVIDIA Blackwell architecture brief, half of the figures with sparsity'),
      ('NVIDIA B200', 'NVIDIA HGX B200, an eighth, half of the figures with sparsity'),
      ('NVIDIA GB200', 'NVIDIA GB200 superchip, one of its two GPUs, half of the figures with sparsity'),
      ('AMD Instinct MI100', 'AMD MI100 data sheet, matrix'), ('AMD Instinct MI210', 'AMD MI210 data sheet, matrix'),
      ('AMD Instinct MI250', 'AMD MI250 data sheet, matrix, half of it: a device of a profile is one of the two dies'),
      ('AMD Instinct MI250X', 'AMD MI250X data sheet, matrix, half of it: a device of a profile is one of the two dies'),
      ('AMD Instinct MI300A', 'AMD MI300A data sheet, matrix'), ('AMD Instinct MI300X', 'AMD MI300X data sheet, matrix'),
      ('AMD Instinct MI325X', 'AMD MI325X data sheet, matrix'), ('AMD Instinct MI350X', 'AMD MI350X data sheet, matrix'),
      ('AMD Instinct MI355X', 'AMD MI355X data sheet, matrix'))) AS sheet USING (chip), json_each(rate.dtypes) AS dtype
)
SELECT chip, dtype, dense_flops_per_s, sparse_flops_per_s, source, shipped FROM given;
CREATE UNIQUE INDEX IF NOT EXISTS temp.chip_peaks_key ON chip_peaks(chip, dtype);

-- _rank_peak_query: rank_peak, to be kept.
CREATE TEMP VIEW IF NOT EXISTS _rank_peak_query(
  profile,                -- TEXT     alias
  rank,                   -- INTEGER  NULL: unknown
  dtype,                  -- TEXT     as dtype_names
  peak_flops,             -- REAL     operations a second, dense
  chip,                   -- TEXT     chip as the profile or profana_open names it; NULL unknown
  source                  -- TEXT     where the figure comes from
) AS
WITH device AS (
  SELECT s.alias AS profile, s.rank, s.chip_option, coalesce(s.chip_option, d.chip) AS chip, d.ai_core_num,
         d.aic_frequency_mhz
    FROM prof_source AS s
    LEFT JOIN prof_device AS d ON d.profile = s.alias AND d.rank IS s.rank
),
known AS (                -- under the name that chip_peaks has for it
  SELECT *,
         coalesce((SELECT p.chip FROM chip_peaks AS p WHERE p.chip = device.chip COLLATE NOCASE),
                  (SELECT n.chip FROM chip_names AS n WHERE lower(device.chip) GLOB n.pattern
                    ORDER BY length(n.pattern) DESC LIMIT 1)) AS table_chip
    FROM device
),
rate AS (
  SELECT k.profile, k.rank, t.dtype, k.chip, k.ai_core_num, k.aic_frequency_mhz, p.dense_flops_per_s, p.source,
         (SELECT r.ops_per_cycle FROM cube_rates AS r
           WHERE r.dtype = t.dtype AND lower(coalesce(k.chip, '')) GLOB r.chip_pattern
           ORDER BY length(r.chip_pattern) DESC LIMIT 1) AS ops_per_cycle,
         p.shipped IS NULL OR k.chip_option IS NOT NULL AS table_first
    FROM known AS k
    JOIN (SELECT DISTINCT dtype FROM dtype_names) AS t
    LEFT JOIN chip_peaks AS p ON p.chip = k.table_chip AND p.dtype = t.dtype
),
peak AS (
  SELECT profile, rank, dtype, chip,
         CASE WHEN table_first AND dense_flops_per_s IS NOT NULL THEN dense_flops_per_s
              ELSE coalesce(ai_core_num * aic_frequency_mhz * 1e6 * ops_per_cycle, dense_flops_per_s) END AS peak_flops,
         CASE WHEN ai_core_num * aic_frequency_mhz * ops_per_cycle IS NULL OR table_first AND dense_flops_per_s IS NOT NULL
              THEN source
              ELSE 'info.json: ' || ai_core_num || ' cores, ' || aic_frequency_mhz || ' MHz; ' || ops_per_cycle
                   || ' operations a cycle' END AS source
    FROM rate
)
SELECT profile, rank, dtype, min(peak_flops), min(chip), min(source)
  FROM peak
 GROUP BY profile, rank, dtype
HAVING min(peak_flops) = max(peak_flops);

CREATE VIRTUAL TABLE IF NOT EXISTS temp._rank_peak USING profana_memo(_rank_peak_query);

-- rank_peak: what can the chip of each open rank do at most, by data type?
--
-- In this order: a row of your own in chip_peaks; the chip named to profana_open; AI cores x MHz of the profile's
-- info.json x cube_rates; the shipped row for the chip that the profile names. No row where none of them knows the type,
-- or where the devices of a rank differ.
CREATE TEMP VIEW IF NOT EXISTS rank_peak(
  profile,                -- TEXT     alias
  rank,                   -- INTEGER  NULL: unknown
  dtype,                  -- TEXT     as dtype_names
  peak_flops,             -- REAL     operations a second, dense
  chip,                   -- TEXT     chip as the profile or profana_open names it; NULL unknown
  source                  -- TEXT     where the figure comes from
) AS
SELECT * FROM _rank_peak;
