"""Rules of modules and of the module sheets, each in a run of a few events."""
from profiles import Text
from test_rules import run_cases, step

CALLS = "SELECT module_name, base_total_ns, comparison_total_ns FROM module_compare WHERE is_total ORDER BY order_id"
NAMES = "SELECT module_name, base_calls, base_total_ns FROM module_compare_statistic WHERE operator IS NULL ORDER BY order_id"
OPERATORS = "SELECT module_name, operator, base_self_ns FROM module_compare_statistic WHERE operator IS NOT NULL ORDER BY order_id"


def modules_of_one_side(case):
    """Modules are compared only where both sides have some."""
    bare, full = Text(), Text()
    full.python("nn.Module: Net_0", 0, 100)
    for t in (bare, full):
        t.op("aten::mm", 10, 5)
        t.kernel("k", 200, 5, launch=10)
    bare, full = case.text(bare), case.text(full)
    for base, comparison, rows in ((full, bare, 0), (bare, full, 0), (full, full, 2)):
        s = case.session(base, comparison)
        case.checks.equal("calls", s.value("SELECT count(*) FROM module_compare"), rows)
        case.checks.equal("names", s.value("SELECT count(*) FROM module_compare_statistic"), rows)


def optimizers(case):
    """An operator whose name begins with optimizer, in any case, is a module, and no operator of the module around it."""
    t = Text()
    t.python("nn.Module: Net_0", 0, 100)
    t.op("Optimizer.step#SGD.step", 20, 50)
    t.op("optimizer.zero_grad", 200, 50)
    t.kernel("k", 500, 6, launch=25)
    t.kernel("k", 510, 7, launch=210)
    s = case.session(case.text(t))
    case.checks.equal("modules", s.rows(NAMES), [("/ Net_0", 1, 6000), ("/ Net_0/Optimizer.step#SGD.step", 1, 6000),
                                                 ("/optimizer.zero_grad", 1, 7000)])
    case.checks.equal("operators", s.rows(OPERATORS), [])


def calls_of_a_step(case):
    """Of a chosen step, modules, their backward halves and optimizers are those that start in it, at its very end too."""
    t = Text()
    for number in (1, 2):
        at = number * 1000
        t.op(f"ProfilerStep#{number}", at, 900)
        t.python("nn.Module: Net_0", at + 10, 100)
        t.op("aten::mm", at + 20, 5)
        t.op("Optimizer.step#SGD.step", at + 300, 20)
        t.kernel("k", at + 400, number, launch=at + 20, step=number)
    t.python("nn.Module: Last_0", 1900, 50)
    t.op("MmBackward0", 2200, 50, thread=2)
    t.fwd_bwd(1020, 2200)
    t.kernel("k", 2500, 4, launch=2210, thread=2, step=2)
    path = case.text(t)
    case.checks.equal("step 1", case.session(path, **step(1)).rows(NAMES),
                      [("/ Net_0", 1, 1000), ("/Optimizer.step#SGD.step", 1, 0), ("/ Last_0", 1, 0)])
    case.checks.equal("step 2", case.session(path, **step(2)).rows(NAMES), [("/ Net_0", 1, 2000), ("/Optimizer.step#SGD.step", 1, 0)])
    case.checks.equal("all", case.session(path).rows(NAMES), [("/ Net_0", 2, 3000), ("/Optimizer.step#SGD.step", 2, 0), ("/ Last_0", 1, 0),
                                                             ("/[ BACKWARD ]/ Net_0", 1, 4000)])


def backward_halves(case):
    """A backward half is as long as the last operator that starts at the flow's end, and is called from its own title."""
    t = Text()
    t.python("nn.Module: Net_0", 10, 100)
    t.op("aten::mm", 20, 5)
    t.op("MmBackward0", 200, 50, thread=2)
    t.op("aten::mm", 200, 20, thread=2)
    t.fwd_bwd(20, 200)
    t.kernel("k", 410, 6, launch=210, thread=2)
    t.kernel("k", 420, 7, launch=230, thread=2)                         # the outer operator's
    s = case.session(case.text(t))
    case.checks.equal("from 200 to 220", s.rows(CALLS), [("/ Net_0", 0, 0), ("/[ BACKWARD ]/ Net_0", 6000, 6000)])
    case.checks.equal("call stacks", s.rows("SELECT base_call_stack FROM module_compare WHERE is_total ORDER BY order_id"),
                      [("nn.Module: Net_0",), ("[ BACKWARD ]/nn.Module: Net_0",)])


def classes_of_modules(case):
    """The class of a module is its name without the number behind the last underscore; other digits are part of it."""
    t = Text()
    t.python("nn.Module: Conv2", 10, 100)
    t.python("nn.Module: My_Net_12", 200, 10)
    t.op("aten::mm", 20, 5)
    t.kernel("k", 500, 1, launch=20)
    s = case.session(case.text(t))
    case.checks.equal("classes", s.rows("SELECT module_class FROM module_compare_statistic WHERE operator IS NULL ORDER BY order_id"),
                      [("nn.Module: Conv2",), ("nn.Module: My_Net",)])


def operators_of_modules(case):
    """An operator within a module and a backward half is the module's; operators of a module stand in order of start."""
    t = Text()
    t.python("nn.Module: Net_0", 10, 400)
    t.op("aten::last", 300, 5)
    t.op("aten::mm", 20, 5)
    t.op("MmBackward0", 200, 50, thread=2)
    t.op("aten::sum", 210, 5, thread=2)
    t.fwd_bwd(20, 200)
    t.kernel("k", 500, 6, launch=212, thread=2)
    s = case.session(case.text(t))
    listed = [("/ Net_0", "aten::mm", 0), ("/ Net_0", "MmBackward0", 6000), ("/ Net_0", "aten::last", 0)]
    case.checks.equal("of both sheets", s.rows(OPERATORS), listed)
    case.checks.equal("call by call", s.rows("SELECT base_operator FROM module_compare WHERE NOT is_total ORDER BY order_id"),
                      [(operator,) for _, operator, _ in listed])


def modules_by_full_name(case):
    """Modules meet by their full names: Linear_1 meets Linear_1, wherever it stands among others of its class."""
    def run(*numbers):
        t = Text()
        t.python("nn.Module: Net_0", 0, 500)
        for i, number in enumerate(numbers):
            at = 10 + i * 50
            t.python(f"nn.Module: Linear_{number}", at, 40)
            t.op("aten::mm", at + 5, 5)
            t.kernel("k", 600 + at, 2 + number, launch=at + 5)
        return case.text(t)
    case.checks.equal("calls", case.session(run(0, 1), run(1, 2)).rows(CALLS), [
        ("/ Net_0", 2000 + 3000, 3000 + 4000), ("/ Net_0/ Linear_0", 2000, None), ("/ Net_0/ Linear_1", 3000, 3000),
        ("/ Net_0/ Linear_2", None, 4000)])


def lone_call_at_the_same_start(case):
    """A call of the comparison alone stands before the pairs that start later there, so behind one that starts with it."""
    base, comparison = Text(), Text()
    comparison.python("nn.Module: Net_0", 0, 500)
    comparison.python("nn.Module: Conv_0", 0, 100)
    base.python("nn.Module: Net_0", 0, 500)
    for t in (base, comparison):
        t.op("aten::mm", 10, 20)
        t.kernel("k", 600, 2, launch=10)
    case.checks.equal("calls", case.session(case.text(base), case.text(comparison)).rows(CALLS),
                      [("/ Net_0", 2000, 2000), ("/ Net_0/ Conv_0", None, 2000)])


def totals_of_single_calls(case):
    """Median, spread and verdict of a module are those of its total time, with the modules inside."""
    def run(outer, inner):
        t = Text()
        for i, dur in enumerate(inner):
            at = i * 1000
            t.python("nn.Module: Net_0", at, 500)
            t.op("aten::add", at + 5, 2)
            t.python("nn.Module: Linear_0", at + 10, 100)
            t.op("aten::mm", at + 20, 5)
            t.kernel("k", at + 50000, outer, launch=at + 5)
            t.kernel("k", at + 60000, dur, launch=at + 20)
        return case.text(t)
    s = case.session(run(1, (10, 20, 60)), run(2, (5, 5, 5)))
    # Net_0 takes 11, 21 and 61 us: quartiles 16 and 41; in the comparison less, though more of its own
    case.checks.equal("modules", s.rows("SELECT module_name, base_median_ns, base_spread_ns, verdict FROM module_compare_statistic "
                                        "WHERE operator IS NULL ORDER BY order_id"),
                      [("/ Net_0", 21000.0, 25000.0, "better"), ("/ Net_0/ Linear_0", 20000.0, 25000.0, "better")])


def modules_of_ranks(case):
    """Modules stand and meet rank by rank, whatever the clocks of the ranks, each with the work and call stack of its rank."""
    def run(rank, at):
        t = Text()
        t.python(f"train{rank}.py(1): main", at, 1000)
        t.python("nn.Module: Net_0", at + 10, 500)
        t.python("nn.Module: Linear_0", at + 20, 100)
        t.op("aten::mm", at + 30, 5)
        t.kernel("k", at + 2000, 10 + rank, launch=at + 30)
        return t
    for clocks in ((0, 0), (0, 40), (5000, 0)):
        s = case.session(case.ranks(run(0, clocks[0]), run(1, clocks[1])), case.ranks(run(0, clocks[0])))
        case.checks.equal(f"calls, ranks from {clocks}", s.rows(CALLS), [
            ("/ Net_0", 10000, 10000), ("/ Net_0/ Linear_0", 10000, 10000), ("/ Net_0", 11000, None), ("/ Net_0/ Linear_0", 11000, None)])
        case.checks.equal("call stacks", s.rows("SELECT base_call_stack FROM module_compare WHERE is_total ORDER BY order_id"),
                          [(f"train{rank}.py(1): main",) for rank in (0, 0, 1, 1)])


if __name__ == "__main__":
    run_cases(modules_of_one_side, optimizers, calls_of_a_step, backward_halves, classes_of_modules, operators_of_modules,
              modules_by_full_name, lone_call_at_the_same_start, totals_of_single_calls, modules_of_ranks)
