package differ

// An openCase is a difference that is known and not explained yet: neither a fault of the engine was found, nor a rule written.
type openCase struct {
	number, like int
	form         string
}

// open are the open cases of the seed 1. The test names them each time. It fails for every other difference, and for one more of their form.
var open = []openCase{
	{7709, 1, "the stored documents differ $collStats $merge aggregate"},
	{11547, 0, "the stored documents differ $indexStats $merge aggregate"},
	{11915, 0, "only the server fails $atanh $fill aggregate"},
	{8615, 0, "only the server fails $dateDiff $pow $project aggregate"},
	{5789, 0, "only the server fails $densify aggregate"},
	{8524, 0, "the replies differ $densify aggregate"},
	{9236, 0, "the replies differ $bucketAuto aggregate"},
	{11219, 0, "the replies differ $fill aggregate"},
	{6788, 0, "the replies differ find"},
}
