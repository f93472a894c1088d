-- The compare tool's printed table of overall times, turned so that the profiles stand side by side.
--
-- A figure that neither profile has is left out. Seconds, with the number of kernels in brackets.

WITH side AS (
  SELECT *, (SELECT max(hides_details) FROM overall_summary) AS details_hidden FROM overall_summary
),
figure(place, metric, profile, shown, value) AS (
  SELECT 1, 'Device', profile, 1, device FROM side
  UNION ALL
  SELECT 2, 'Cube Time(Num)', profile, NOT details_hidden, printf('%ss(%d)', fixed(cube_ns / 1e9, 3), cube_calls)
    FROM side
  UNION ALL
  SELECT 3, 'Vector Time(Num)', profile, NOT details_hidden,
         printf('%ss(%d)', fixed(vector_ns / 1e9, 3), vector_calls)
    FROM side
  UNION ALL
  SELECT 4, 'Conv Time(Forward)(Num)', profile, conv_forward_ns <> 0,
         printf('%ss(%d)', fixed(conv_forward_ns / 1e9, 3), conv_forward_calls)
    FROM side
  UNION ALL
  SELECT 5, 'Conv Time(Backward)(Num)', profile, conv_backward_ns <> 0,
         printf('%ss(%d)', fixed(conv_backward_ns / 1e9, 3), conv_backward_calls)
    FROM side
  UNION ALL
  SELECT 6, 'Flash Attention Time(Forward)(Num)', profile, fa_forward_ns <> 0,
         printf('%ss(%d)', fixed(fa_forward_ns / 1e9, 3), fa_forward_calls)
    FROM side
  UNION ALL
  SELECT 7, 'Flash Attention Time(Backward)(Num)', profile, fa_backward_ns <> 0,
         printf('%ss(%d)', fixed(fa_backward_ns / 1e9, 3), fa_backward_calls)
    FROM side
  UNION ALL
  SELECT 8, 'Paged Attention Time(Num)', profile, page_attention_ns <> 0,
         printf('%ss(%d)', fixed(page_attention_ns / 1e9, 3), page_attention_calls)
    FROM side
  UNION ALL
  SELECT 9, 'Lccl Time(Num)', profile, lccl_ns <> 0, printf('%ss(%d)', fixed(lccl_ns / 1e9, 3), lccl_calls) FROM side
  UNION ALL
  SELECT 10, 'Other Time', profile, device = 'NPU' AND other_ns <> 0,
         CASE device WHEN 'GPU' THEN '0.000s' ELSE fixed(other_ns / 1e9, 3) || 's' END
    FROM side
  UNION ALL
  SELECT 11, 'Computing Time', profile, 1, fixed(computing_ns / 1e9, 3) || 's' FROM side
  UNION ALL
  SELECT 12, 'Mem Usage', profile, coalesce(reserved_bytes, 0) <> 0,
         fixed(coalesce(reserved_bytes, 0) / 1073741824.0, 2) || 'G'
    FROM side
  UNION ALL
  SELECT 13, 'Uncovered Communication Time(Wait Time)', profile, 1,
         printf('%ss(%s)', fixed(uncovered_ns / 1e9, 3),
                CASE WHEN profile = 'base' AND wait_ns = 0 THEN ' / ' ELSE fixed(wait_ns / 1e9, 3) || 's' END)
    FROM side
  UNION ALL
  SELECT 14, 'RDMA Bandwidth', profile, coalesce(rdma_gb_per_s, 0) <> 0,
         fixed(coalesce(rdma_gb_per_s, 0), 3) || 'GB/s'
    FROM side
  UNION ALL
  SELECT 15, 'SDMA Bandwidth', profile, coalesce(sdma_gb_per_s, 0) <> 0,
         fixed(coalesce(sdma_gb_per_s, 0), 3) || 'GB/s'
    FROM side
  UNION ALL
  SELECT 16, 'SDMA Time(Num)', profile, copy_ns <> 0, printf('%ss(%d)', fixed(copy_ns / 1e9, 3), copy_calls) FROM side
  UNION ALL
  SELECT 17, 'Free Time', profile, 1, fixed(free_ns / 1e9, 3) || 's' FROM side
  UNION ALL
  SELECT 18, 'E2E Time', profile, 1, fixed(e2e_ns / 1e9, 3) || 's' FROM side
)
SELECT CASE WHEN metric = 'E2E Time' AND (SELECT max(device) FROM side) = 'NPU'
            THEN 'E2E Time(Not minimal profiling)' ELSE metric END AS "Model Profiling Time Distribution",
       max(value) FILTER (WHERE profile = 'base') AS "Base",
       max(value) FILTER (WHERE profile = 'comparison') AS "Comparison"
  FROM figure
 GROUP BY place
HAVING max(shown) = 1
 ORDER BY place;
