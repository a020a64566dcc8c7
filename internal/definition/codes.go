package definition

import (
	"github.com/millrace-go/millrace/internal/interpolate"
	"github.com/millrace-go/millrace/internal/params"
)

// The codes of problems. They are stable: programs may rely on them.
const (
	CodeInvalidJSON    = "invalid_json"
	CodeLargeJSON      = "json_too_large"
	CodeDeepJSON       = "json_too_deep"
	CodeUnknownField   = "unknown_field"
	CodeWrongType      = "wrong_type"
	CodeNoName         = "missing_name"
	CodeLongName       = "name_too_long"
	CodeBadName        = "invalid_name"
	CodeNoSteps        = "no_steps"
	CodeManySteps      = "too_many_steps"
	CodeDuplicateID    = "duplicate_id"
	CodeBadID          = "invalid_id"
	CodeLongID         = "id_too_long"
	CodeNoAction       = "missing_action"
	CodeBadAction      = "unknown_action"
	CodeForwardRef     = interpolate.CodeForwardRef
	CodeUnknownRef     = interpolate.CodeUnknownRef
	CodeTwoInputs      = "two_inputs"
	CodeNoInput        = "missing_input"
	CodeUnusedInput    = "unused_input"
	CodeBadCondition   = "invalid_condition"
	CodeBadExpect      = "invalid_expect"
	CodeBadTemplate    = interpolate.CodeBadTemplate
	CodeRepaired       = "repaired"
	CodeTooMany        = params.CodeTooMany
	CodeBackwardJump   = "backward_jump"
	CodeForwardRetry   = "forward_retry"
	CodeParallelJump   = "parallel_jump"
	CodeBadRetry       = "invalid_retry"
	CodeBadTimeout     = "invalid_timeout"
	CodeBadInput       = "invalid_input"
	CodeBadLimit       = "invalid_limit"
	CodeBadTool        = "unknown_tool"
	CodeBadArgs        = "invalid_tool_args"
	CodeDenied         = "exec_denied"
	CodeBadAgent       = "unknown_agent"
	CodeTwoForms       = "two_forms"
	CodeUnreachable    = "unreachable_step"
	CodeNested         = "nested_pipeline"
	CodeBadBudget      = "invalid_budget"
	CodeBadClass       = "invalid_classification"
	CodeBadDescription = "invalid_description"
	CodeBadVariable    = "invalid_variable"
	CodeNoVariable     = "missing_variable"
	CodeVariables      = "variable_conflict"
	CodeReservedID     = "reserved_id"
)
