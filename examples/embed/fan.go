package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// settings are what is tuned.
type settings struct {
	gain         float64 // fan speed per degree above the target
	integralTime float64 // seconds
	mode         string  // "smooth", "steps" (quarters of full speed) or "pulses" (full speed, part of the time)
}

// cabinet is a box of electronics with a fan: the device of this example. Its
// numbers differ a little from device to device.
type cabinet struct {
	capacity float64 // joules that warm the electronics by one degree
	leak     float64 // watts per degree that leave without the fan
	cooling  float64 // watts per degree that the fan at full speed adds
	stiction float64 // the fan stands still below this speed
	load     float64 // watts at full load
	ambient  float64 // degrees Celsius
}

const (
	target      = 55.0 // degrees Celsius
	tripAt      = 66.0 // the thermal switch opens
	runSeconds  = 1800 // simulated seconds of one evaluation
	pulsePeriod = 20   // seconds
	sensorLag   = 6.0  // seconds
)

// newCabinet returns the cabinet of a device; the same number gives the same one.
func newCabinet(device uint64) cabinet {
	rng := rand.New(rand.NewPCG(device, 1))
	about := func(typical float64) float64 { return typical * (0.85 + 0.3*rng.Float64()) }
	return cabinet{
		capacity: about(600), leak: about(0.5), cooling: about(4),
		stiction: about(0.12), load: about(90), ambient: about(24),
	}
}

// score drives the cabinet for half an hour under a changing load and says how
// badly the settings did: the mean squared error in degrees, plus what the fan
// used and how much it was worn. The noise is that of the load and the sensor. A
// cabinet that gets too hot trips, which is an error. Pace is how long the
// measurement takes in real time.
func (c cabinet) score(ctx context.Context, s settings, pace time.Duration, rng *rand.Rand) (float64, error) {
	select {
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	case <-time.After(pace):
	}
	temperature, measured := target-5, target-5
	integral, speed, load := 0.0, 0.0, 0.3
	var squares, energy, wear float64
	for second := range runSeconds {
		if second%300 == 150 {
			load = []float64{1, 0.4, 0.8, 0.25, 0.9, 0.5}[second/300]
		}
		measured += (temperature - measured) / sensorLag
		var wanted float64
		wanted, integral = s.control(measured+0.3*rng.NormFloat64(), integral)
		before := speed
		speed = s.drive(wanted, second)
		airflow := 0.0
		if speed > c.stiction {
			airflow = math.Pow(speed, 0.8) // turbulent heat transfer
		}
		power := c.load * load * (1 + 0.05*rng.NormFloat64())
		temperature += (power - (c.leak+c.cooling*airflow)*(temperature-c.ambient)) / c.capacity
		if temperature > tripAt {
			return 0, fmt.Errorf("tripped at %g degrees after %d s", tripAt, second)
		}
		squares += (temperature - target) * (temperature - target) / runSeconds
		energy += 60 * speed * speed * speed / runSeconds // the power of a fan grows with the cube
		wear += 60 * math.Abs(speed-before) / runSeconds
	}
	return squares + energy + wear, nil
}

// control is a PI controller that does not integrate against a limit of the
// fan.
func (s settings) control(measured, integral float64) (wanted, next float64) {
	difference := measured - target
	wanted = s.gain*difference + integral
	atLimit := wanted <= 0 && difference < 0 || wanted >= 1 && difference > 0
	if !atLimit {
		integral += s.gain * difference / s.integralTime
	}
	return min(1, max(0, wanted)), integral
}

// drive turns the wanted speed into what the mode can do.
func (s settings) drive(wanted float64, second int) float64 {
	switch s.mode {
	case "steps":
		return math.Round(4*wanted) / 4
	case "pulses":
		if float64(second%pulsePeriod) < wanted*pulsePeriod {
			return 1
		}
		return 0
	}
	return wanted
}
