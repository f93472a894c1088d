-- What to draw of one step of each profile: a row per piece of work, by lane and time. scale_ns is the longer span of the two.

SELECT profile, ifnull('step ' || step, 'whole profile') AS span, span_ns, max(span_ns) OVER () AS scale_ns, lane, kind,
       ifnull(op_type, name) AS name, at_ns, dur_ns
  FROM step_timeline
 WHERE profile IN ('base', 'comparison')
 ORDER BY profile, lane_id, lane, at_ns;
