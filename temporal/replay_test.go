package millracetemporal

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/millrace-go/millrace/fleet"
)

// Campaigns that earlier versions started can continue: the workflow issues the same commands as before. If a test
// fails here, a change of the workflow needs workflow.GetVersion.
func TestReplay(t *testing.T) {
	t.Parallel()
	histories, err := filepath.Glob("testdata/*.json")
	if err != nil || len(histories) == 0 {
		t.Fatal("no histories", err)
	}
	for _, name := range histories {
		t.Run(filepath.Base(name), func(t *testing.T) {
			if err := replayed(t, name); err != nil {
				t.Error(err)
			}
		})
	}
}

// Recorded values, which campaigns passed to themselves and to clients, decode and encode to the same JSON.
func TestRecordedJSON(t *testing.T) {
	t.Parallel()
	read := map[string]int{}
	for name, into := range map[string]func() any{
		`{"project":"default","campaign":"cancel","pipeline"`: func() any { return new(state) },
		`{"project":"default","campaign":"cancel","phase"`:    func() any { return new(Progress) },
	} {
		data, err := os.ReadFile("testdata/cancel.json")
		if err != nil {
			t.Fatal(err)
		}
		all := new(historypb.History)
		if err := protojson.Unmarshal(data, all); err != nil {
			t.Fatal(err)
		}
		for _, e := range all.Events {
			for _, p := range append(e.GetWorkflowExecutionStartedEventAttributes().GetInput().GetPayloads(), e.GetWorkflowExecutionCanceledEventAttributes().GetDetails().GetPayloads()...) {
				if !strings.HasPrefix(string(p.Data), name) {
					continue
				}
				read[name]++
				v := into()
				d := json.NewDecoder(bytes.NewReader(p.Data))
				d.DisallowUnknownFields()
				if err := d.Decode(v); err != nil {
					t.Fatal(err)
				}
				if again, err := json.Marshal(v); err != nil || string(again) != string(p.Data) {
					t.Errorf("%v: %s\nis %s", err, p.Data, again)
				}
			}
		}
	}
	if len(read) != 2 {
		t.Errorf("read: %v", read)
	}
}

// TestReplay must be able to fail.
func TestReplayNotices(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/written_two_targets.json")
	if err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{runTargetActivity: planTargetActivity, collectActivity: approveActivity} {
		name := filepath.Join(t.TempDir(), "changed.json")
		if err := os.WriteFile(name, []byte(strings.ReplaceAll(string(data), from, to)), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := replayed(t, name); err == nil {
			t.Errorf("%s instead of %s was not noticed", to, from)
		}
	}
}

func replayed(t *testing.T, name string) error {
	t.Helper()
	r := worker.NewWorkflowReplayer()
	r.RegisterWorkflowWithOptions(runCampaign, workflow.RegisterOptions{Name: campaignWorkflow})
	return r.ReplayWorkflowHistoryFromJSONFile(quiet{}, name)
}

var update = flag.Bool("write-histories", false, "rewrite the histories of testdata that no server has recorded")

// TestWriteHistories writes histories as a server would record them, with the events that follow each command. The
// histories of real servers come from the module e2e.
func TestWriteHistories(t *testing.T) {
	if !*update {
		t.Skip("only with -write-histories, after a change that breaks running campaigns on purpose")
	}
	settings := settings{Parallel: 2, Page: 3, HoldFor: time.Hour, StartToClose: time.Hour, Heartbeat: 30 * time.Second, Attempts: attempts}
	s := state{Project: "p", Campaign: "c", Pipeline: "a", Name: "n", Targets: "b", Count: 2, Settings: settings}
	done := func(i int) report {
		return report{Outcome: fleet.Outcome{Index: i, Status: fleet.Success, Files: 1, Edits: 1, Attempts: 1}}
	}
	// Two targets at a time, up to the end.
	h := written{t: t}
	h.started(s)
	h.task()
	first, second := h.scheduled(runTargetActivity), h.scheduled(runTargetActivity)
	h.completed(second, done(1))
	h.task()
	h.completed(first, done(0))
	h.task()
	h.completed(h.scheduled(collectActivity), "head")
	h.task()
	h.ended()
	h.write("written_two_targets.json")

	// Four targets: after three the campaign continues as new.
	s.Count = 4
	h = written{t: t}
	h.started(s)
	h.task()
	first, second = h.scheduled(runTargetActivity), h.scheduled(runTargetActivity)
	h.completed(first, done(0))
	h.task()
	third := h.scheduled(runTargetActivity)
	h.completed(second, done(1))
	h.task()
	h.completed(third, done(2))
	h.task()
	h.completed(h.scheduled(collectActivity), "head")
	h.task()
	h.continued()
	h.write("written_continues.json")
}

// written is a history during writing.
type written struct {
	t    *testing.T
	all  historypb.History
	turn int64 // the event of the last completed task
}

func (h *written) payload(v any) *commonpb.Payloads {
	h.t.Helper()
	p, err := converter.GetDefaultDataConverter().ToPayloads(v)
	if err != nil {
		h.t.Fatal(err)
	}
	return p
}

// add adds an event and returns its id.
func (h *written) add(e *historypb.HistoryEvent) int64 {
	e.EventId = int64(len(h.all.Events)) + 1
	e.EventTime = timestamppb.New(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(time.Duration(e.EventId) * time.Second))
	h.all.Events = append(h.all.Events, e)
	return e.EventId
}

var queue = &taskqueuepb.TaskQueue{Name: DefaultTaskQueue}

func (h *written) started(s state) {
	h.add(&historypb.HistoryEvent{EventType: enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED, Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{
		WorkflowExecutionStartedEventAttributes: &historypb.WorkflowExecutionStartedEventAttributes{
			WorkflowType: &commonpb.WorkflowType{Name: campaignWorkflow}, TaskQueue: queue, Input: h.payload(s), Attempt: 1,
			OriginalExecutionRunId: "11111111-1111-1111-1111-111111111111", FirstExecutionRunId: "11111111-1111-1111-1111-111111111111",
			WorkflowTaskTimeout: durationpb.New(10 * time.Second),
		},
	}})
}

// task adds the events of one turn of the workflow's code.
func (h *written) task() {
	scheduled := h.add(&historypb.HistoryEvent{EventType: enumspb.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED, Attributes: &historypb.HistoryEvent_WorkflowTaskScheduledEventAttributes{
		WorkflowTaskScheduledEventAttributes: &historypb.WorkflowTaskScheduledEventAttributes{TaskQueue: queue, Attempt: 1},
	}})
	started := h.add(&historypb.HistoryEvent{EventType: enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED, Attributes: &historypb.HistoryEvent_WorkflowTaskStartedEventAttributes{
		WorkflowTaskStartedEventAttributes: &historypb.WorkflowTaskStartedEventAttributes{ScheduledEventId: scheduled},
	}})
	h.turn = h.add(&historypb.HistoryEvent{EventType: enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED, Attributes: &historypb.HistoryEvent_WorkflowTaskCompletedEventAttributes{
		WorkflowTaskCompletedEventAttributes: &historypb.WorkflowTaskCompletedEventAttributes{ScheduledEventId: scheduled, StartedEventId: started},
	}})
}

// scheduled adds the event of an activity, a command of the last task.
func (h *written) scheduled(activity string) int64 {
	id := int64(len(h.all.Events)) + 1
	return h.add(&historypb.HistoryEvent{EventType: enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED, Attributes: &historypb.HistoryEvent_ActivityTaskScheduledEventAttributes{
		ActivityTaskScheduledEventAttributes: &historypb.ActivityTaskScheduledEventAttributes{
			ActivityId: fmt.Sprint(id), ActivityType: &commonpb.ActivityType{Name: activity}, TaskQueue: queue, WorkflowTaskCompletedEventId: h.turn,
		},
	}})
}

func (h *written) completed(scheduled int64, result any) {
	started := h.add(&historypb.HistoryEvent{EventType: enumspb.EVENT_TYPE_ACTIVITY_TASK_STARTED, Attributes: &historypb.HistoryEvent_ActivityTaskStartedEventAttributes{
		ActivityTaskStartedEventAttributes: &historypb.ActivityTaskStartedEventAttributes{ScheduledEventId: scheduled, Attempt: 1},
	}})
	h.add(&historypb.HistoryEvent{EventType: enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED, Attributes: &historypb.HistoryEvent_ActivityTaskCompletedEventAttributes{
		ActivityTaskCompletedEventAttributes: &historypb.ActivityTaskCompletedEventAttributes{ScheduledEventId: scheduled, StartedEventId: started, Result: h.payload(result)},
	}})
}

func (h *written) ended() {
	h.add(&historypb.HistoryEvent{EventType: enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED, Attributes: &historypb.HistoryEvent_WorkflowExecutionCompletedEventAttributes{
		WorkflowExecutionCompletedEventAttributes: &historypb.WorkflowExecutionCompletedEventAttributes{WorkflowTaskCompletedEventId: h.turn},
	}})
}

func (h *written) continued() {
	h.add(&historypb.HistoryEvent{EventType: enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW, Attributes: &historypb.HistoryEvent_WorkflowExecutionContinuedAsNewEventAttributes{
		WorkflowExecutionContinuedAsNewEventAttributes: &historypb.WorkflowExecutionContinuedAsNewEventAttributes{
			NewExecutionRunId: "22222222-2222-2222-2222-222222222222", WorkflowType: &commonpb.WorkflowType{Name: campaignWorkflow}, TaskQueue: queue, WorkflowTaskCompletedEventId: h.turn,
		},
	}})
}

func (h *written) write(name string) {
	h.t.Helper()
	data, err := protojson.MarshalOptions{Multiline: true, Indent: " "}.Marshal(&h.all)
	if err == nil {
		err = os.WriteFile(filepath.Join("testdata", name), append(data, '\n'), 0o644)
	}
	if err != nil {
		h.t.Fatal(err)
	}
}
