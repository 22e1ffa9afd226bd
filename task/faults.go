package task

import (
	"errors"
	"fmt"
	"strings"
)

// whole is the row of an error that concerns the whole listing.
const whole = -1

// fault is an error in a row of a listing. Rows count from 0.
type fault struct {
	row     int
	message string
}

// faults collects errors of a listing. A table can have more errors than a user can read, so it
// keeps the first ones and counts the others.
type faults struct {
	all     []fault
	omitted int
}

func (f *faults) add(row int, format string, a ...any) {
	if len(f.all) == maxErrors {
		f.omitted++
		return
	}
	f.all = append(f.all, fault{row, fmt.Sprintf(format, a...)})
}

// join returns the faults as one error.
func (f *faults) join() error {
	all := make([]error, 0, len(f.all)+1)
	for _, one := range f.all {
		place := ""
		if one.row != whole {
			place = fmt.Sprintf("design %d: ", one.row+1)
		}
		all = append(all, fmt.Errorf("task: %s%s", place, one.message))
	}
	if f.omitted > 0 {
		all = append(all, fmt.Errorf("and %d more", f.omitted))
	}
	return errors.Join(all...)
}

// messageOf returns an error's message without the prefix "task: ".
func messageOf(err error) string { return strings.TrimPrefix(err.Error(), "task: ") }
