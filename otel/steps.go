package millraceotel

import (
	"path"
	"regexp"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

// Names of the conventions for generative AI; the package of the conventions for pipelines no longer has them.
const (
	operation     = attribute.Key("gen_ai.operation.name")
	toolName      = attribute.Key("gen_ai.tool.name")
	agentName     = attribute.Key("gen_ai.agent.name")
	requestModel  = attribute.Key("gen_ai.request.model")
	responseModel = attribute.Key("gen_ai.response.model")
	inputTokens   = attribute.Key("gen_ai.usage.input_tokens")
	outputTokens  = attribute.Key("gen_ai.usage.output_tokens")
)

// asked has the names that a step uses, if they are in the pipeline. The values of templates are left out: they can be
// any text, and are not labels.
type asked struct {
	command, prompt bool
	program         string // of a command
	agent, model    string // of a prompt
}

// askedBy returns the names that each step uses, by its id.
func askedBy(p millrace.Pipeline) map[string]asked {
	all := make(map[string]asked)
	for _, s := range p.Steps() {
		switch a := s.Action.(type) {
		case actions.Exec:
			all[s.ID] = askedOfCommand(a)
		case *actions.Exec:
			all[s.ID] = askedOfCommand(*a)
		case actions.Prompt:
			all[s.ID] = askedOfAgent(p, a)
		case *actions.Prompt:
			all[s.ID] = askedOfAgent(p, *a)
		}
	}
	return all
}

func askedOfCommand(a actions.Exec) asked {
	program := a.Command
	if a.Shell != "" {
		program = "sh"
	}
	return asked{command: true, program: label(path.Base(strings.ReplaceAll(program, `\`, "/")))}
}

func askedOfAgent(p millrace.Pipeline, a actions.Prompt) asked {
	return asked{prompt: true, agent: label(a.Agent), model: label(a.Within(p.Sandbox()).Model)}
}

// name matches the names of programs, agents and models.
var name = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.:/@+-]{0,127}$`)

// label returns a name, or "" for a text that is not a name.
func label(text string) string {
	if !name.MatchString(text) {
		return ""
	}
	return text
}

// attributes returns the attributes of a visit that runs a command or asks an agent.
func (v *visit) attributes(res millrace.StepResult) []attribute.KeyValue {
	var list []attribute.KeyValue
	named := func(key attribute.Key, value string) {
		if value != "" {
			list = append(list, key.String(value))
		}
	}
	switch {
	case v.asked.prompt:
		list = append(list, operation.String("invoke_agent"))
		named(agentName, v.asked.agent)
		model := v.asked.model
		if model == "" { // the agent chose the model
			model = v.model
		}
		named(requestModel, model)
		named(responseModel, v.model)
		if v.input > 0 || v.output > 0 {
			list = append(list, inputTokens.Int64(v.input), outputTokens.Int64(v.output))
		}
	case v.asked.command:
		named(semconv.ProcessExecutableNameKey, v.asked.program)
		data, _ := res.Data.(map[string]any)
		if code, ok := data["exit_code"].(int64); ok && code >= 0 {
			list = append(list, semconv.ProcessExitCode(int(code)))
		}
	case res.Tool != "":
		list = append(list, operation.String("execute_tool"))
		named(toolName, label(res.Tool))
	}
	return list
}

// replied adds the tokens of an answer.
func (v *visit) replied(e millrace.AgentReplied) {
	v.model = label(e.Model)
	v.input += max(e.InputTokens, 0)
	v.output += max(e.OutputTokens, 0)
}
