-- What got worse between the profiles base and comparison, by how much, and what is to blame, in words.
--
-- End to end first, then computing, uncovered communication, free time and memory, the worst first; below an area
-- that worsened the five operators, modules, kernels, collectives or host calls that grew most.

SELECT finding AS "Diagnosis"
  FROM diagnosis
 ORDER BY order_id;
