# Evaluates trials of the node that runs on a data directory: Rscript worker.R EVALUATIONS
#
# FBO_DATA_DIR is the data directory of the node. FBO_CLIENT is the name of this worker (default: r); a worker that restarts
# under its name gets its trial again.

source("training.R")
source("node.R")

evaluations <- suppressWarnings(as.integer(commandArgs(trailingOnly = TRUE)[1]))
dir <- Sys.getenv("FBO_DATA_DIR")
if (dir == "" || is.na(evaluations) || evaluations < 1) {
  message("usage: FBO_DATA_DIR=DIR Rscript worker.R EVALUATIONS")
  quit(status = 2)
}
socket <- normalizePath(file.path(dir, "control.sock"), mustWork = FALSE)
client <- Sys.getenv("FBO_CLIENT", "r")

text <- paste(readLines("task.yaml"), collapse = "\n")
task <- post(socket, "/v1/tasks", list(text = text)) # joins it, unless the node has it already

# report reports a trial. Another client may have reported it after the end of a lease; its outcome then counts.
report <- function(trial, action, body) {
  tryCatch(post(socket, sprintf("/v1/tasks/%s/trials/%d/%s", task$id, trial$id, action), body), refused = function(problem) {
    if (problem$status != 409) {
      stop(problem)
    }
    message("trial ", trial$id, ": ", conditionMessage(problem))
  })
}

evaluated <- 0
while (evaluated < evaluations) {
  asked <- post(socket, sprintf("/v1/tasks/%s/ask", task$id), list(client = client, wait_seconds = 15)) # none while the node waits
  for (trial in asked$trials) {
    seconds <- system.time(result <- tryCatch(do.call(train, trial$parameters), error = identity))[["elapsed"]]
    if (inherits(result, "error")) {
      cat(sprintf("trial %d failed: %s\n", trial$id, conditionMessage(result)))
      report(trial, "fail", list(client = client, reason = conditionMessage(result)))
    } else {
      cat(sprintf("trial %d: loss %.4f, accuracy %.3f\n", trial$id, result$loss, result$accuracy))
      report(trial, "tell", list(value = result$loss, metrics = list(accuracy = result$accuracy), cost = seconds))
    }
    evaluated <- evaluated + 1
  }
}
