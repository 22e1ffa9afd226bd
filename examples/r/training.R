# Multinomial logistic regression of the iris data of R, trained by gradient descent.

classes <- outer(as.integer(iris$Species), 1:3, "==") + 0
fold <- rep(1:5, length.out = nrow(iris)) # the data are sorted by class: each fold has ten of each

# probabilities returns a row for each observation with the probability of each class.
probabilities <- function(x, weights) {
  scores <- x %*% weights
  scores <- exp(scores - apply(scores, 1, max))
  scores / rowSums(scores)
}

# fit returns the weights after some steps of gradient descent on the mean cross-entropy plus penalty times half the
# squared weights, without those of the intercept.
fit <- function(x, y, learning_rate, penalty, steps) {
  weights <- matrix(0, ncol(x), ncol(y))
  shrunk <- c(0, rep(penalty, ncol(x) - 1))
  for (step in seq_len(steps)) {
    gradient <- crossprod(x, probabilities(x, weights) - y) / nrow(x) + shrunk * weights
    weights <- weights - learning_rate * gradient
  }
  weights
}

# train returns the mean cross-entropy in nats and the accuracy in a five-fold cross-validation. It stops with an error
# if the training diverges.
train <- function(learning_rate, penalty, steps, standardize) {
  loss <- correct <- 0
  for (k in 1:5) {
    inside <- fold != k
    x <- as.matrix(iris[, 1:4])
    if (standardize) {
      x <- scale(x, colMeans(x[inside, ]), apply(x[inside, ], 2, sd))
    }
    x <- cbind(1, x)
    p <- probabilities(x[!inside, ], fit(x[inside, ], classes[inside, ], learning_rate, penalty, steps))
    loss <- loss - sum(log(rowSums(p * classes[!inside, ])))
    correct <- correct + sum(max.col(p, "first") == as.integer(iris$Species)[!inside])
  }
  loss <- loss / nrow(iris)
  if (!isTRUE(loss <= log(3))) { # the loss of a guess, with which the training begins
    stop("the training diverged: its loss is ", loss)
  }
  list(loss = loss, accuracy = correct / nrow(iris))
}
