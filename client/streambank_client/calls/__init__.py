"""What each call sends and how its reply is read: one pure function for each route of the API."""
