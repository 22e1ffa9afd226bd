package mcpserver

import (
	"encoding/json"
	"time"
)

// Trial is what an agent sees of a trial. Its fields are those of the HTTP interface.
type Trial struct {
	ID         uint64                     `json:"id"`
	Parameters map[string]json.RawMessage `json:"parameters" jsonschema:"the design: a value for each active parameter"`
	State      string                     `json:"state" jsonschema:"waiting, running, done, failed or stopped"`
	Attempts   int                        `json:"attempts" jsonschema:"how often it was given to a client and not returned"`
	Source     string                     `json:"source,omitempty" jsonschema:"how the design was chosen, in one word"`
	Yours      bool                       `json:"yours,omitempty" jsonschema:"you hold it or have evaluated it"`
	LeaseEnds  time.Time                  `json:"lease_ends,omitzero" jsonschema:"when another client gets it, unless you ask before"`
	Started    time.Time                  `json:"started,omitzero"`
	Finished   time.Time                  `json:"finished,omitzero"`
	Outcome    *Outcome                   `json:"outcome,omitempty"`
	Reason     string                     `json:"reason,omitempty" jsonschema:"why it failed"`
	Violated   []string                   `json:"violated,omitempty" jsonschema:"constraints that the outcome violates"`
	Steps      []Step                     `json:"steps,omitempty" jsonschema:"values by step"`
	Cost       *float64                   `json:"cost,omitempty"`
	Stop       *Stop                      `json:"stop,omitempty" jsonschema:"why the evaluation should end early, or has"`
}

// shown is a trial in an answer of the node.
type shown struct {
	Trial
	Client string `json:"client"`
	Why    struct {
		Source string `json:"source"`
	} `json:"why"`
}

// of returns the trial for the agent with this name.
func (t shown) of(client string) Trial {
	t.Source, t.Yours = t.Why.Source, t.Client == client
	return t.Trial
}

func trialsOf(all []shown, client string) []Trial {
	trials := make([]Trial, len(all))
	for i, t := range all {
		trials[i] = t.of(client)
	}
	return trials
}

// Outcome holds the measurements of a trial.
type Outcome struct {
	Value       float64                    `json:"value" jsonschema:"the measured objective, of several the first, in the task's own units"`
	Constraints map[string]json.RawMessage `json:"constraints,omitempty" jsonschema:"the measured constraints of the task by name, each a number or true or false"`
	Metrics     map[string]float64         `json:"metrics,omitempty" jsonschema:"further numbers by name; a task with several objectives needs those after the first"`
}

// Step is a value of the objective at a step of an evaluation, such as an epoch.
type Step struct {
	Step  uint64   `json:"step" jsonschema:"a whole number from 1 that increases, such as an epoch"`
	Value float64  `json:"value" jsonschema:"the objective at this step"`
	Cost  *float64 `json:"cost,omitempty" jsonschema:"cost of the trial so far, in a unit of yours"`
}

// Stop is a decision to end an evaluation early.
type Stop struct {
	Rule   string `json:"rule"`
	Step   uint64 `json:"step"`
	Reason string `json:"reason"`
}

// TaskLine is a task in a list.
type TaskLine struct {
	ID         string         `json:"id"`
	Name       string         `json:"name"`
	Goal       string         `json:"goal" jsonschema:"minimize or maximize the objective, of several the first"`
	Objectives []string       `json:"objectives,omitempty" jsonschema:"names of several objectives: the first is the value of an outcome, the others are metrics"`
	Trials     map[string]int `json:"trials" jsonschema:"number of trials in each state"`
}

// Checked is the meaning of a task file.
type Checked struct {
	ID      string          `json:"id" jsonschema:"nodes with the same ID work together"`
	Name    string          `json:"name"`
	Designs string          `json:"designs" jsonschema:"how designs are chosen"`
	Sharing string          `json:"sharing" jsonschema:"what nodes share, in one word and a clause"`
	Reveals string          `json:"reveals,omitempty" jsonschema:"what peers receive of this node and can learn from it"`
	File    json.RawMessage `json:"task" jsonschema:"the task with all defaults"`
}
