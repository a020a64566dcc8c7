package runs

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"
)

// number is an id in JSON: a number if possible, else a text.
type number string

// Number returns an id as a number: digits without a sign and without a leading zero. ok is false for other ids.
func Number(id string) (n int64, ok bool) {
	if id == "" || id[0] < '1' || id[0] > '9' {
		return 0, false
	}
	n, err := strconv.ParseInt(id, 10, 64)
	return n, err == nil
}

func (n number) MarshalJSON() ([]byte, error) {
	if _, ok := Number(string(n)); ok {
		return []byte(n), nil
	}
	return json.Marshal(string(n))
}

func (n *number) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte{'"'}) {
		return json.Unmarshal(data, (*string)(n))
	}
	var read json.Number
	err := json.Unmarshal(data, &read)
	*n = number(read)
	return err
}

// millis is a duration in milliseconds in JSON.
type millis time.Duration

func (m millis) MarshalJSON() ([]byte, error) {
	return json.Marshal(float64(m) / float64(time.Millisecond))
}

func (m *millis) UnmarshalJSON(data []byte) error {
	var read float64
	err := json.Unmarshal(data, &read)
	*m = millis(read * float64(time.Millisecond))
	return err
}
