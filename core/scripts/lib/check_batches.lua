-- defines check_batches; needs batches msg outbox
-- includes check_findings check_verdict batch_record batch_note outbox_put queue_name
-- What check looks at of batches: a record that cannot be read goes, and so does a callback whose
-- batch is gone. A batch whose entry of the outbox is missing gets it again: it closes the batch.
local function check_batches()
  local found = scan_page('HSCAN', batches)
  for i = 1, #found, 2 do
    local field, value = found[i], found[i + 1]
    local id = string.match(field, '^(.*)\t')
    local b = not id and batch_read(value)
    if id and not read_list('HMGET', batches, id)[1] or not id and not b then
      report_removal('batch', 'HDEL', batches, field)
    elseif b and b.state == 0 and not read_list('ZMSCORE', outbox, b.timer)[1] then
      report('batch', field)
      if repairs then
        outbox_put(b.timer, b.closes)
        redis.call('HSET', msg, b.timer, batch_note(queue_name(), field, 'timeout 1', now))
      end
    end
    answer[2] = answer[2] + #value
  end
end
