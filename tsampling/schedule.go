package tsampling

import (
	"fmt"
	"math"

	"github.com/fbo-node/fbo/task"
)

// The names of schedules in a task file.
const (
	InverseSqrt   = "inverse-sqrt"
	InverseSquare = "inverse-square"
	Inverse       = "inverse"
	Constant      = "constant"
	OwnOnly       = "own-only"
)

// Schedule defines p_t, the probability that trial t uses the agent's own sample. Trials count from
// the first one after the starting designs.
type Schedule struct {
	Name           string  // InverseSqrt, InverseSquare, Inverse, Constant or OwnOnly
	OwnProbability float64 // p_t of Constant, in [0, 1]; 0 for the others
}

// ReadSchedule reads the keys schedule and own_probability of a task file.
func ReadSchedule(s *task.Section, fallback string) (schedule Schedule) {
	schedule.Name = s.Word("schedule", fallback, InverseSqrt, InverseSquare, Inverse, Constant, OwnOnly)
	switch schedule.Name {
	case Constant:
		schedule.OwnProbability = s.Required("own_probability", 0, 1)
	case "": // an unknown word was reported; the key may belong to the intended one
		s.Accept("own_probability")
	default:
		s.Refuse("own_probability", "schedule: "+Constant)
	}
	return schedule
}

// AddKeys adds the keys of the schedule to keys, in the form that ReadSchedule reads.
func (s Schedule) AddKeys(keys map[string]any) {
	keys["schedule"] = s.Name
	if s.Name == Constant {
		keys["own_probability"] = s.OwnProbability
	}
}

// String returns a short description for people.
func (s Schedule) String() string {
	if s.Name == Constant {
		return fmt.Sprintf("%s %g", s.Name, s.OwnProbability)
	}
	return s.Name
}

// Own returns p_t for t = 1, 2, …: 1 − 1/√t for InverseSqrt, 1 − 1/t² for InverseSquare, 1 − 1/t
// for Inverse, OwnProbability for Constant, and 1 for OwnOnly. InverseSqrt and InverseSquare have
// p_1 = p_2, as in the experiments of Dai, Low and Jaillet (NeurIPS 2020). Inverse has p_1 = 0, as
// in their experiments of 2021.
func (s Schedule) Own(t uint64) float64 {
	count := float64(max(t, 2))
	switch s.Name {
	case InverseSqrt:
		return 1 - 1/math.Sqrt(count)
	case InverseSquare:
		return 1 - 1/(count*count)
	case Inverse:
		return 1 - 1/float64(max(t, 1))
	case Constant:
		return s.OwnProbability
	case OwnOnly:
		return 1
	}
	panic(fmt.Sprintf("tsampling: unknown schedule %q", s.Name)) // ReadSchedule accepts no other
}
