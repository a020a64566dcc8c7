package millraceotel

import (
	"cmp"
	"regexp"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/risk"
)

// Names that the semantic conventions do not have.
const (
	phase          = attribute.Key("millrace.phase")
	classification = attribute.Key("millrace.classification")
	dryRun         = attribute.Key("millrace.dry_run")
	files          = attribute.Key("millrace.files")
	edits          = attribute.Key("millrace.edits")
	riskLevel      = attribute.Key("millrace.risk")
	costUSD        = attribute.Key("millrace.cost_usd")
	wouldBlock     = attribute.Key("millrace.would_block")
	incomplete     = attribute.Key("millrace.incomplete")
	replayed       = attribute.Key("millrace.replayed")
	rolledBack     = attribute.Key("millrace.rolled_back")
	commitState    = attribute.Key("millrace.commit.state")
	commitPhase    = attribute.Key("millrace.commit.phase")
	backupID       = attribute.Key("millrace.backup.id")
	restoredID     = attribute.Key("millrace.restored.id")

	action   = attribute.Key("millrace.action")
	visitNo  = attribute.Key("millrace.visit")
	attempts = attribute.Key("millrace.attempts")
	attempt  = attribute.Key("millrace.attempt")
	wait     = attribute.Key("millrace.wait_seconds")
	handled  = attribute.Key("millrace.handled")
	matched  = attribute.Key("millrace.files_matched")
	jumpFrom = attribute.Key("millrace.jump.from")
	jumpTo   = attribute.Key("millrace.jump.to")
	jumpBy   = attribute.Key("millrace.jump.by")
)

// restorePrefix precedes the id of a backup in the name of a restore, which has no pipeline.
const restorePrefix = "restore "

// longest is the longest name; the name of a stored plan has not been checked before.
const longest = 255

func runID(id string) attribute.KeyValue { return semconv.CICDPipelineRunID(id) }

// startOfRun returns the name and the attributes of the span of a run at its start.
func startOfRun(e millrace.RunStarted) (name string, list []attribute.KeyValue) {
	name = "RUN"
	list = append(list, semconv.CICDPipelineActionNameRun, phase.String(e.Phase), dryRun.Bool(e.DryRun))
	pipeline := e.Pipeline
	if id, ok := strings.CutPrefix(pipeline, restorePrefix); ok && e.Phase == millrace.PhaseCommit && e.Steps == 0 {
		pipeline = strings.TrimSpace(restorePrefix)
		if len(id) <= longest {
			list = append(list, restoredID.String(id))
		}
	}
	if pipeline != "" && len(pipeline) <= longest {
		name += " " + pipeline
		list = append(list, semconv.CICDPipelineName(pipeline))
	}
	if e.RunID != "" {
		list = append(list, runID(e.RunID))
	}
	if e.Classification != "" {
		list = append(list, classification.String(e.Classification))
	}
	return name, list
}

// endOfRun returns the attributes that are known at the end of a run.
func endOfRun(f millrace.RunFinished) []attribute.KeyValue {
	res := f.Result
	if res == nil {
		return nil
	}
	list := []attribute.KeyValue{
		files.Int(res.FilesChanged.Count()), edits.Int(res.TotalEdits), commitState.String(string(res.Commit.State)),
	}
	list = appendUse(list, res.OverallRiskLevel, res.Cost)
	for _, is := range []struct {
		key attribute.Key
		so  bool
	}{{wouldBlock, res.WouldBlock}, {incomplete, res.Incomplete}, {replayed, res.Replayed},
		{rolledBack, res.RollbackPerformed}} {
		if is.so {
			list = append(list, is.key.Bool(true))
		}
	}
	if res.BackupID != "" {
		list = append(list, backupID.String(res.BackupID))
	}
	return list
}

func appendUse(list []attribute.KeyValue, level risk.Level, cost budget.Cost) []attribute.KeyValue {
	if level != risk.Unset {
		list = append(list, riskLevel.String(level.String()))
	}
	if cost > 0 {
		list = append(list, costUSD.Float64(float64(cost)/float64(budget.Dollar)))
	}
	return list
}

// startOfVisit returns the attributes of the span of a visit at its start.
func startOfVisit(run string, e millrace.StepStarted) []attribute.KeyValue {
	return []attribute.KeyValue{
		semconv.CICDPipelineTaskName(e.Step), semconv.CICDPipelineTaskRunID(visitID(run, e.Step, e.Visit)),
		action.String(e.Action), visitNo.Int(e.Visit),
	}
}

// endOfVisit returns the attributes that are known at the end of a visit.
func endOfVisit(e millrace.StepFinished) []attribute.KeyValue {
	res := e.Result
	list := []attribute.KeyValue{matched.Int(len(res.FilesMatched)), edits.Int(res.EditsApplied)}
	list = appendUse(list, res.RiskLevel, res.Cost)
	if res.Attempts > 1 {
		list = append(list, attempts.Int(res.Attempts))
	}
	if res.Handled {
		list = append(list, handled.Bool(true))
	}
	if res.Jump != nil {
		list = append(list, jumpTo.String(res.Jump.To), jumpBy.String(res.Jump.By))
	}
	return list
}

// retry returns the attributes of the event that an attempt failed and another follows.
func retry(e millrace.StepRetrying) []attribute.KeyValue {
	code := millrace.ErrorCode(&millrace.StepError{Err: e.Err})
	return []attribute.KeyValue{attempt.Int(e.Attempt), wait.Float64(e.Wait.Seconds()), errorType(code)}
}

// jump returns the attributes of the event that a step jumped to another.
func jump(e millrace.StepJumped) []attribute.KeyValue {
	return []attribute.KeyValue{jumpFrom.String(e.From), jumpTo.String(e.To), jumpBy.String(e.By)}
}

// codeOf returns the code of the failure of a run, "" if it has not failed. A plan with a failed step can be returned
// without an error.
func codeOf(f millrace.RunFinished) string {
	code := millrace.ErrorCode(f.Err)
	if code == "" && f.Result != nil && !f.Result.Success {
		code = f.Result.ErrorCode
	}
	return code
}

// stepCode returns the code of the failure of a visit, "" if it has not failed.
func stepCode(s millrace.StepResult) string {
	if s.Success {
		return ""
	}
	return cmp.Or(s.ErrorCode, "step_failed")
}

// results are the attributes for the possible results.
type results struct{ success, failure, broken, timeout, cancellation attribute.KeyValue }

var (
	pipelineResults = results{
		semconv.CICDPipelineResultSuccess, semconv.CICDPipelineResultFailure, semconv.CICDPipelineResultError,
		semconv.CICDPipelineResultTimeout, semconv.CICDPipelineResultCancellation,
	}
	taskResults = results{
		semconv.CICDPipelineTaskRunResultSuccess, semconv.CICDPipelineTaskRunResultFailure,
		semconv.CICDPipelineTaskRunResultError,
		semconv.CICDPipelineTaskRunResultTimeout, semconv.CICDPipelineTaskRunResultCancellation,
	}
)

// of returns the result for an error code. It separates the faults of the pipeline from the faults of its environment.
func (r results) of(code string) attribute.KeyValue {
	switch code {
	case "":
		return r.success
	case "canceled":
		return r.cancellation
	case "timeout", "deadline_exceeded":
		return r.timeout
	case "commit_failed", "file_system", "internal", "locked", "recovery_needed":
		return r.broken
	default:
		return r.failure
	}
}

// finish ends a span. The description of its status is also the code, because the message of an error can quote
// anything.
func finish(span trace.Span, how results, code string) {
	span.SetAttributes(how.of(code))
	if code != "" {
		kind := errorType(code)
		span.SetAttributes(kind)
		span.SetStatus(codes.Error, kind.Value.AsString())
	}
	span.End()
}

// skip ends the span of a visit that was skipped.
func skip(span trace.Span) {
	span.SetAttributes(semconv.CICDPipelineTaskRunResultSkip)
	span.End()
}

// word matches a valid code. A tool can return any text as the code of its error.
var word = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,63}$`)

func errorType(code string) attribute.KeyValue {
	if !word.MatchString(code) {
		return semconv.ErrorTypeOther
	}
	return semconv.ErrorTypeKey.String(code)
}
