"""Request and response bodies: Hindsight's fields first, Perdure's own optional ones after them."""
