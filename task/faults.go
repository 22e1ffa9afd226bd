package task

import (
	"errors"
	"fmt"
	"strings"
)

// whole is the row of a fault that concerns no row.
const whole = -1

// fault is what is wrong with a row of a listing, counted from 0.
type fault struct {
	row     int
	message string
}

// faults are what is wrong with a listing. One table can hold many times more than
// anybody reads: some are kept, and all counted.
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

// messageOf returns an error's message without the package's name.
func messageOf(err error) string { return strings.TrimPrefix(err.Error(), "task: ") }
