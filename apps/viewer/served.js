// The page of a server, or one that holds all of its pieces.
show(new Pieces());
