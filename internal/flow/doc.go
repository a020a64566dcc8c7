// Package flow decides which step of a pipeline comes next. A step is only an index here: the package runs nothing,
// holds no files, and decides only from the reports of its caller. Equal reports lead to equal paths through the steps.
//
// A [Machine] is at a step or at the end. The caller asks for the position ([Machine.At]), does the work of that step,
// and reports its outcome ([Machine.Done]). The [Move] describes the effect on the stage and the next position:
//
//	m, err := flow.New(steps, 0)
//	for at, ok := m.At(); ok; at, ok = m.At() {
//		if at.Attempt == 1 {
//			saves = append(saves, stage.Savepoint()) // its number is at.Savepoint
//		}
//		move := m.Done(attempt(at))
//		if move.Stage != flow.Keep {
//			stage.Rollback(saves[move.Savepoint])
//		}
//	}
//	commit := m.Completed()
//
// # Terms
//
// A visit is one arrival at a step: its condition is asked, then there are attempts. An attempt runs the action once. S
// is the savepoint that the caller takes when a visit begins, before the condition is asked. The previous visit is the
// last visit that was executed, that is, not skipped. A way back is an entry of retry_if ([Retry]): if it holds, the
// run goes back to an earlier step, or to the same step again. A visit has an error if it failed, or if it took a way
// back. A sweep is everything between one jump back and the next.
//
// # The table
//
// There are n steps, and the machine is at step i. The first row that applies is used.
//
//	row  what happened                                  stage          to           the visit
//	 1   skipped                                        kept           i+1          skipped
//	 2   attempt failed, retryable, attempts left       back to S      i, again     goes on
//	 3   succeeded, no way back holds                   kept           Next or i+1  succeeded
//	 4   a way back holds, its target has visits left   see below      the target   succeeded or handled
//	 5   a way back holds, its target has none left     back to S      as rows 6-9  failed, exhausted
//	 6   failed, has OnFail                             back to S      OnFail       handled
//	 7   failed, Awaited                                back to S      i+1          handled
//	 8   failed, Continue                               back to S      i+1          failed
//	 9   failed otherwise                               all discarded  end          failed
//	10   stopped from outside                           all discarded  end          failed, if it had an attempt
//	11   at the end                                     to be judged   end          none
//
// A move by row 5 has the row number that the failure then used. A skipped step never takes Next or OnFail. Steps that
// a jump ahead passes over are bypassed: for conditions and inputs they are skipped, and they have no visit.
//
// Row 4 keeps the staged changes of a success and rolls back the changes of a failure. Changes of other visits stay
// staged, unless the way back has Restart: then the stage goes back to the savepoint of the first visit of the target
// that still counts, and all visits since are discarded. If the target has no such visit (it was bypassed), Restart has
// nothing to go back to. A jump back to t forgets the status of t and of all steps after it; the numbers of their
// visits continue.
//
// Row 10 has one cause inside the machine: after maxSteps attempts, [Position.Spent] is true. The step may still be
// skipped, but no attempt may begin.
//
// # Why it ends
//
// Next and OnFail lead ahead, so a sweep has at most n visits. Each way back is open only while its target has had
// fewer than MaxVisits visits, and visits are never given back, not even by Restart or an outer loop. A visit has at
// most 1+MaxRetries attempts. Also, maxSteps limits the attempts of all visits together, so there are at most
// (maxSteps+1)*n visits.
//
// # States
//
// [Machine.State] is the list of outcomes reported to the machine, a few bytes each. [Machine.Restore] reports them
// again. So it only reaches states that a run can reach, even if the text was forged.
package flow
