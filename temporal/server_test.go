package millracetemporal

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// server replaces a server and its workers: a campaign runs to its end as soon as it starts, unless it is left open.
// Missing parts are nil pointers.
type server struct {
	client.Client
	t      *testing.T
	worker Worker
	open   *Progress // the progress of campaigns that stay open; nil: they end

	mu       sync.Mutex
	list     []*execution // the latest first
	updates  []string
	canceled []string
	refuse   error // of updates
}

type execution struct {
	info *workflowpb.WorkflowExecutionInfo
	p    Progress
	err  error
}

func (s *server) find(id string) *execution {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.list {
		if e.info.Execution.WorkflowId == id {
			return e
		}
	}
	return nil
}

func (s *server) ExecuteWorkflow(_ context.Context, o client.StartWorkflowOptions, workflow any, args ...any) (client.WorkflowRun, error) {
	if workflow != campaignWorkflow || o.TaskQueue != DefaultTaskQueue {
		s.t.Errorf("%v on %s", workflow, o.TaskQueue)
	}
	if was := s.find(o.ID); was != nil {
		open := was.info.Status == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
		done := was.info.Status == enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED && o.WorkflowIDReusePolicy == enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY
		if open || done {
			return nil, serviceerror.NewWorkflowExecutionAlreadyStarted("already", "", "")
		}
	}
	payload, err := converter.GetDefaultDataConverter().ToPayload(o.Memo[memoKey])
	if err != nil {
		return nil, err
	}
	began := time.Now()
	e := &execution{info: &workflowpb.WorkflowExecutionInfo{
		Execution: &commonpb.WorkflowExecution{WorkflowId: o.ID}, Memo: &commonpb.Memo{Fields: map[string]*commonpb.Payload{memoKey: payload}},
		StartTime: timestamppb.New(began), ExecutionTime: timestamppb.New(began.Add(o.StartDelay)), Status: enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING,
	}}
	if s.open == nil {
		p, _, err := finish(s.t, s.worker, args[0].(state), nil)
		if err != nil {
			return nil, err
		}
		e.p, e.info.CloseTime, e.info.Status = p, timestamppb.New(time.Now()), enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED
		if p.Sum.Failed > 0 {
			e.info.Status = enumspb.WORKFLOW_EXECUTION_STATUS_FAILED
			e.err = temporal.NewNonRetryableApplicationError("failed", "targets_failed", nil, p)
		}
	} else {
		e.p = *s.open
		e.p.Book = args[0].(state).Targets
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = slices.Insert(s.list, 0, e)
	return nil, nil
}

// ran is a campaign that a client can wait for.
type ran struct {
	client.WorkflowRun
	*execution
	id string
}

func (r ran) Get(ctx context.Context, to any) error {
	switch {
	case r.execution == nil:
		return serviceerror.NewNotFound("no " + r.id)
	case r.info.Status == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING:
		<-ctx.Done()
		return ctx.Err()
	case r.err != nil:
		return r.err
	}
	*to.(*Progress) = r.p
	return nil
}

func (s *server) GetWorkflow(_ context.Context, id, _ string) client.WorkflowRun {
	return ran{execution: s.find(id), id: id}
}

func (s *server) DescribeWorkflowExecution(_ context.Context, id, _ string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	e := s.find(id)
	if e == nil {
		return nil, serviceerror.NewNotFound("no " + id)
	}
	return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: e.info}, nil
}

// ListWorkflow returns pages of two.
func (s *server) ListWorkflow(_ context.Context, r *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	from := 0
	if len(r.NextPageToken) > 0 {
		from = int(r.NextPageToken[0])
	}
	res := new(workflowservice.ListWorkflowExecutionsResponse)
	for i := from; i < len(s.list) && i < from+2; i++ {
		res.Executions = append(res.Executions, s.list[i].info)
	}
	if from+2 < len(s.list) {
		res.NextPageToken = []byte{byte(from + 2)}
	}
	return res, nil
}

type answer struct{ p Progress }

func (a answer) HasValue() bool { return true }

func (a answer) Get(to any) error { *to.(*Progress) = a.p; return nil }

func (s *server) QueryWorkflow(_ context.Context, id, _, query string, _ ...any) (converter.EncodedValue, error) {
	e := s.find(id)
	if e == nil || query != progressQuery {
		return nil, serviceerror.NewNotFound("no " + id)
	}
	return answer{e.p}, nil
}

type updated struct {
	client.WorkflowUpdateHandle
	p   Progress
	err error
}

func (u updated) Get(_ context.Context, to any) error {
	if u.err == nil {
		*to.(*Progress) = u.p
	}
	return u.err
}

func (s *server) UpdateWorkflow(_ context.Context, o client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	e := s.find(o.WorkflowID)
	if e == nil {
		return nil, serviceerror.NewNotFound("no " + o.WorkflowID)
	}
	s.updates = append(s.updates, o.UpdateName)
	return updated{p: e.p, err: s.refuse}, nil
}

func (s *server) CancelWorkflow(_ context.Context, id, _ string) error {
	e := s.find(id)
	if e == nil {
		return serviceerror.NewNotFound("no " + id)
	}
	s.canceled = append(s.canceled, id)
	e.info.Status = enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED
	e.p.Phase = PhaseDone
	e.err = temporal.NewCanceledError(e.p)
	return nil
}

// serve returns a client of a fake server.
func serve(t *testing.T, n int) (*forest, *server, Client) {
	t.Helper()
	f, _, w, c := plant(t, n)
	s := &server{t: t, worker: w}
	c.Temporal = s
	return f, s, c
}

var errNo = errors.New("no")
