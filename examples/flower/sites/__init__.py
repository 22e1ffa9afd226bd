"""Five sites that recognise handwritten digits together: data, model, and the tuning of a site."""
