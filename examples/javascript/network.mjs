// A neural network with one hidden layer, trained by gradient descent with momentum on two noisy half moons.

/** Returns a generator of numbers in [0, 1), a linear congruential one with the constants of Numerical Recipes. */
function generator(seed) {
  let state = seed >>> 0;
  return () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
}

/** Returns a generator of standard normal numbers, by the method of Box and Muller. */
function normal(random) {
  return () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** Returns points of two half moons: coordinates x, y and the class 0 or 1. */
function moons(count, seed) {
  const random = generator(seed), noise = normal(random);
  return Array.from({ length: count }, (_, i) => {
    const label = i % 2, angle = Math.PI * random(), sign = 1 - 2 * label;
    return { x: label + sign * Math.cos(angle) - 0.5 + 0.2 * noise(), y: label / 2 + sign * Math.sin(angle) - 0.25 + 0.2 * noise(), label };
  });
}

const activations = {
  tanh: { value: Math.tanh, slope: (out) => 1 - out * out },
  relu: { value: (x) => Math.max(x, 0), slope: (out) => (out > 0 ? 1 : 0) },
};

const training = moons(120, 1), validation = moons(400, 2);
const epochs = 150, diverged = 5; // nats, far above the loss of a guess, 0.69

/**
 * Trains a network on all training points in each epoch. Returns the mean cross-entropy in nats and the accuracy on
 * validation points. Throws an Error if the training diverges.
 */
export function train({ learning_rate: rate, momentum, hidden, activation }) {
  const { value, slope } = activations[activation], draw = normal(generator(3));
  // A row for each hidden unit: weights of x and y, bias, weight of the output. The last number is the output's bias.
  const weights = Float64Array.from({ length: 4 * hidden + 1 }, (_, i) => (i % 4 === 2 ? 0 : draw() / (i % 4 === 3 ? Math.sqrt(hidden) : 1)));
  weights[4 * hidden] = 0;
  const velocity = new Float64Array(weights.length), outs = new Float64Array(hidden);

  /** Returns the logit of class 1, and stores the outputs of the hidden units. */
  const logit = ({ x, y }) => {
    let sum = weights[4 * hidden];
    for (let h = 0; h < hidden; h++) {
      outs[h] = value(weights[4 * h] * x + weights[4 * h + 1] * y + weights[4 * h + 2]);
      sum += weights[4 * h + 3] * outs[h];
    }
    return sum;
  };

  for (let epoch = 0; epoch < epochs; epoch++) {
    const gradient = new Float64Array(weights.length);
    for (const point of training) {
      const error = 1 / (1 + Math.exp(-logit(point))) - point.label;
      gradient[4 * hidden] += error;
      for (let h = 0; h < hidden; h++) {
        const back = error * weights[4 * h + 3] * slope(outs[h]);
        gradient[4 * h] += back * point.x;
        gradient[4 * h + 1] += back * point.y;
        gradient[4 * h + 2] += back;
        gradient[4 * h + 3] += error * outs[h];
      }
    }
    for (let i = 0; i < weights.length; i++) {
      velocity[i] = momentum * velocity[i] - (rate * gradient[i]) / training.length;
      weights[i] += velocity[i];
    }
  }

  let loss = 0, right = 0;
  for (const point of validation) {
    const margin = (2 * point.label - 1) * logit(point);
    loss += Math.max(-margin, 0) + Math.log1p(Math.exp(-Math.abs(margin)));
    right += margin > 0 ? 1 : 0;
  }
  loss /= validation.length;
  if (!(loss < diverged)) {
    throw new Error(`the training diverged: its loss is ${loss}`);
  }
  return { loss, accuracy: right / validation.length };
}
