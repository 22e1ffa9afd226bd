# Requests to the node that runs on a data directory, over its control socket.

library(curl)
library(jsonlite)

# A refused request is a condition of class "refused" with the status of HTTP.
refused <- function(status, reason) {
  structure(class = c("refused", "error", "condition"), list(message = reason, call = NULL, status = status))
}

temporary <- c(429, 500, 503) # the node is starting, ending or too busy

keys <- new.env()
keys$count <- 0

# new_key returns a key for a request. It does not use R's random numbers, whose seed a training may set.
new_key <- function() {
  keys$count <- keys$count + 1
  sprintf("r-%d-%.6f-%d", Sys.getpid(), as.numeric(Sys.time()), keys$count)
}

# post sends a list and returns the list of the answer. A request is repeated with the same key, so that the node carries
# it out once even if an answer was lost. It stops with the condition refused, or after patience seconds with the error of
# the connection.
post <- function(socket, path, body, patience = 300) {
  key <- new_key()
  end <- Sys.time() + patience
  pause <- 0.25
  repeat {
    handle <- new_handle(unix_socket_path = socket, timeout = 90)
    handle_setopt(handle, postfields = enc2utf8(as.character(toJSON(body, auto_unbox = TRUE, digits = NA))))
    handle_setheaders(handle, "Content-Type" = "application/json", "Idempotency-Key" = key)
    problem <- tryCatch({
      response <- curl_fetch_memory(paste0("http://node", path), handle)
      text <- rawToChar(response$content)
      if (response$status_code < 300) {
        return(fromJSON(text, simplifyVector = FALSE))
      }
      refused(response$status_code, tryCatch(fromJSON(text)$detail, error = function(e) text))
    }, error = identity)
    if (inherits(problem, "refused") && !problem$status %in% temporary || Sys.time() > end) {
      stop(problem)
    }
    message(conditionMessage(problem), "; the request is repeated")
    Sys.sleep(pause)
    pause <- min(2 * pause, 5)
  }
}
