package runs

var JobStatuses = jobStatuses
